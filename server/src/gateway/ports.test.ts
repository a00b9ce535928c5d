import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Driver, Endpoint, Spec } from "../drivers/driver.ts";
import { callLab, startReady, testSpec } from "../drivers/testing/drive-run.ts";
import { runInTerminal } from "../drivers/testing/in-terminal.ts";
import { openProcessMachine } from "../drivers/testing/process-machine.ts";
import { portsOf } from "../environments/api/ports-of.ts";
import { listen, openUpstream, setupGateway } from "./testing/setup-gateway.ts";

/** What a program inside serves: its requests, downloads and uploads with their sums, events, and a WebSocket that echoes. */
const program = `import hashlib, http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.end_headers()
            while piece := self.connection.recv(65536):
                self.connection.sendall(piece)
            self.close_connection = True
            open("closed", "w").close()
        elif self.path.startswith("/bytes/"):
            left = int(self.path[7:])
            self.send_response(200)
            self.send_header("Content-Length", str(left))
            self.end_headers()
            block = bytes(range(256)) * 256
            while left > 0:
                self.wfile.write(block[:left])
                left -= len(block)
        elif self.path == "/events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"data: 1\\n\\n")
            self.wfile.flush()
            self.rfile.read()
        else:
            self.reply(json.dumps({"path": self.path, "headers": str(self.headers)}).encode())
    def do_POST(self):
        left, whole = int(self.headers["Content-Length"]), hashlib.sha256()
        while left > 0:
            piece = self.rfile.read(min(left, 65536))
            whole.update(piece)
            left -= len(piece)
        self.reply(whole.hexdigest().encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
`;

let machine: Awaited<ReturnType<typeof openProcessMachine>>;
let driver: Driver;
let wanted: Spec;
let inside: number;
beforeAll(async () => {
  machine = await openProcessMachine();
  driver = await machine.open();
  await driver.prepare("jupyter");
  wanted = testSpec();
  inside = await freePort();
  const home = join(machine.directory, "homes", wanted.home);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "program.py"), program);
}, 300_000);
/** In the first test, because waiting is asserting. */
let started: Promise<Endpoint> | undefined;
afterAll(async () => {
  await driver.stop(wanted.id, 0);
  await machine.close();
});

/** Nobody on this machine listens on it now. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}

async function start(): Promise<Endpoint> {
  await startReady(driver, wanted);
  const seen = await driver.observe(wanted.id);
  if (seen.state !== "running") throw new Error(`it is ${seen.state}`);
  await runInTerminal(driver, wanted, `(setsid nohup python -u program.py ${inside} > log 2>&1 &)`);
  await expect
    .poll(() => listed(seen.endpoint), { timeout: 30_000 })
    .toContainEqual({ port: inside, program: "program.py" });
  return seen.endpoint;
}

function lab(): Promise<Endpoint> {
  started ??= start();
  return started;
}

const listed = (endpoint: Endpoint) => portsOf({ status: "active", endpoint, run_token: wanted.token });

/** The run's owner, signed in to a port of it. */
async function owner(port = inside) {
  const endpoint = await lab();
  const given = await setupGateway();
  const row = await given.environment({ port: 1 });
  await given.db
    .updateTable("environments")
    .set({ endpoint: JSON.stringify(endpoint), run_token: wanted.token })
    .where("id", "=", row.id)
    .execute();
  const host = given.portHostOf(row, port);
  const cookie = await given.signedIn(row, null, port);
  await expect.poll(() => given.ask(host, "/", { headers: { cookie } }).then(({ status }) => status)).not.toBe(404);
  return { ...given, row, host, cookie };
}

/** One request whose body and response are streams. */
async function stream(port: number, host: string, cookie: string, path: string, body?: readonly Buffer[]) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body?.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const headers = { host, cookie, ...(length !== undefined && { "content-length": length }) };
  const sent = request(
    { host: "127.0.0.1", port, path, method: body ? "POST" : "GET", agent: false, headers },
    resolve,
  );
  sent.on("error", reject);
  for (const piece of body ?? []) if (!sent.write(piece)) await new Promise((next) => sent.once("drain", next));
  sent.end();
  return promise;
}

test("G386 100 MB pass each way through a real JupyterLab as they were sent, and the program sees no token", async () => {
  const { port, host, cookie, ask, row } = await owner();
  const size = 100 * 2 ** 20;
  const down = createHash("sha256");
  for await (const piece of await stream(port, host, cookie, `/bytes/${size}`)) down.update(piece);
  const block = Buffer.from(Array.from({ length: 65_536 }, (_, index) => index % 256));
  const expected = createHash("sha256");
  for (let n = 0; n < size / block.length; n++) expected.update(block);
  expect(down.digest("hex")).toBe(expected.digest("hex"));
  const pieces = Array.from({ length: 100 }, () => randomBytes(2 ** 20));
  const sum = createHash("sha256");
  for (const piece of pieces) sum.update(piece);
  let answer = "";
  for await (const piece of await stream(port, host, cookie, "/sum", pieces)) answer += piece;
  expect(answer).toBe(sum.digest("hex"));
  const echo = await ask(host, "/lab/../api?x=1", { headers: { cookie, authorization: `token ${row.secret}` } });
  expect(JSON.parse(echo.body).path).toBe("/lab/../api?x=1");
  for (const secret of [wanted.token, row.secret, "env="]) expect(echo.body).not.toContain(secret);
}, 60_000);

test("events arrive one by one, a WebSocket echoes, and both are cut when the sign-in ends", async () => {
  const { port, host, cookie, open, db, row } = await owner();
  const events = await stream(port, host, cookie, "/events");
  const [first] = await once(events.setEncoding("utf8"), "data");
  expect(first).toBe("data: 1\n\n");
  const client = open(
    `GET /ws HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nOrigin: http://${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await expect.poll(client.received).toMatch(/^HTTP\/1\.1 101 /);
  client.socket.write("ping");
  await expect.poll(client.received).toMatch(/ping$/);
  const cut = new Promise((resolve) => events.on("close", resolve).on("error", () => {}));
  await db.updateTable("grants").set({ revoked_at: new Date() }).where("environment_id", "=", row.id).execute();
  await Promise.all([client.closed, cut]);
  await expect
    .poll(async () => (await callLab(driver, wanted, "GET", "/api/contents/closed")).status, { timeout: 5000 })
    .toBe(200);
}, 30_000);

test("G388 only programs of the run are listed and reached: not this machine's, not JupyterLab's own", async () => {
  const endpoint = await lab();
  const { body } = await callLab(driver, wanted, "POST", "/api/kernels", 15_000);
  // A kernel has a port for its own threads too, which none of its connections is for.
  await expect.poll(() => listensAs((body as { id: string }).id), { timeout: 20_000 }).toBe(true);
  const elsewhere = await openUpstream(createServer((_request, response) => response.end("elsewhere")));
  expect(await listed(endpoint)).toEqual([{ port: inside, program: "program.py" }]);
  const { ask, host, cookie } = await owner(elsewhere.port);
  const reply = await ask(host, "/", { headers: { cookie } });
  expect([reply.status, JSON.parse(reply.body).code]).toEqual([502, "port_not_listening"]);
  expect(await portsOf({ status: "stopped", endpoint, run_token: wanted.token })).toBe(null);
  expect(await portsOf({ status: "active", endpoint: { host: "127.0.0.1", port: 1 }, run_token: "x" })).toBe(null);
}, 30_000);

/** Whether this kernel's process listens on TCP. */
function listensAs(kernelId: string): boolean {
  const read = (path: string) => {
    try {
      return readFileSync(path, "latin1");
    } catch {
      return "";
    }
  };
  const pid = readdirSync("/proc").find((each) => read(`/proc/${each}/cmdline`).includes(`kernel-${kernelId}.json`));
  if (pid === undefined) return false;
  const listening = new Set(
    read(`/proc/${pid}/net/tcp`)
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === "0A")
      .map((columns) => `socket:[${columns[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).some((fd) => listening.has(readlinkSync(`/proc/${pid}/fd/${fd}`)));
}

test("a port is joined for the run's token alone, never for a page", async () => {
  const endpoint = await lab();
  const upgrade = { connection: "Upgrade", upgrade: "tcp" };
  const authorization = `token ${wanted.token}`;
  const status = (headers: Record<string, string>, path = `/berth/ports/${inside}`) => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    request({ ...endpoint, path, headers: { host: "localhost", ...headers }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("upgrade", ({ statusCode }, socket) => {
        socket.destroy();
        resolve(statusCode);
      })
      .on("error", reject)
      .end();
    return promise;
  };
  expect(await status({ ...upgrade, authorization })).toBe(101);
  expect(await status(upgrade)).toBe(403);
  expect(await status({ ...upgrade, authorization: "token x" })).toBe(403);
  expect(await status({ authorization })).toBe(400);
  expect(await status({ ...upgrade, authorization, cookie: "a=1" })).toBe(400);
  expect(await status({ ...upgrade, authorization, origin: "http://localhost" })).toBe(400);
  for (const port of ["1023", "65536", "99999999999999999999"])
    expect(await status({ ...upgrade, authorization }, `/berth/ports/${port}`)).toBe(502);
});
