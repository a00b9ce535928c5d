import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, WebSocket } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { processDriver } from "../../drivers/process/process-driver.ts";
import { socketFolder } from "../../drivers/process/socket-folder.ts";
import { testSpec, waitForState, waitUntilReady } from "../../drivers/testing/drive-run.ts";
import { strictLog } from "../../logging/testing/record-log.ts";
import { openUpstream, poll, setupGateway } from "../testing/setup-gateway.ts";
import { withoutToken } from "./address-token.ts";

const runtimes = join(import.meta.dirname, "../../../../node_modules/.cache/berth/runtimes");

/** A rented environment with a real JupyterLab behind the gateway. */
async function jupyter() {
  const directory = mkdtempSync(join(tmpdir(), "berth-test-"));
  const driver = await processDriver({ directory, install: "one", network: "shared", runtimes, log: strictLog() });
  const given = await setupGateway();
  const row = await given.environment();
  const wanted = testSpec({ token: row.runToken });
  onTestFinished(async () => {
    await driver.stop(wanted.id, 0);
    await rm(await socketFolder(directory), { recursive: true });
    await rm(directory, { recursive: true, force: true });
  });
  await driver.prepare("jupyter");
  await driver.start(wanted);
  const seen = await waitForState(driver, wanted.id, "running");
  await waitUntilReady(driver, wanted);
  const endpoint = "endpoint" in seen ? JSON.stringify(seen.endpoint) : null;
  await given.db
    .updateTable("environments")
    .set({ endpoint, run_token: row.runToken })
    .where("id", "=", row.id)
    .execute();
  const headers = { authorization: `token ${row.secret}` };
  await poll(() => given.ask(given.hostOf(row), "/api", { headers }).then(({ status }) => status === 200));
  return { ...given, row, host: given.hostOf(row) };
}

/** Runs a cell as Jupyter's clients do, with the token in the WebSocket's query string only; returns its output. */
async function runCell({ host, port, token, kernel }: { host: string; port: number; token: string; kernel: string }) {
  // The resolver may not support subdomains of localhost.
  const dispatcher = new Agent({
    connect: { lookup: (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }]) },
  });
  onTestFinished(() => dispatcher.close());
  expect(host).toMatch(new RegExp(`:${port}$`));
  const socket = new WebSocket(`ws://${host}/api/kernels/${kernel}/channels?session_id=s&token=${token}`, {
    dispatcher,
  });
  onTestFinished(() => socket.close());
  const wrote = Promise.withResolvers<string>();
  socket.addEventListener("error", ({ message }) => wrote.reject(new Error(message)));
  socket.addEventListener("message", ({ data }) => {
    const { msg_type: kind, content } = JSON.parse(String(data));
    if (kind === "stream") wrote.resolve(content.text);
  });
  await Promise.race([once(socket, "open"), wrote.promise]);
  const header = { msg_id: "1", msg_type: "execute_request", username: "", session: "s", version: "5.3", date: "" };
  const content = {
    code: "print(6 * 7)",
    silent: false,
    store_history: false,
    user_expressions: {},
    allow_stdin: false,
  };
  socket.send(JSON.stringify({ channel: "shell", header, parent_header: {}, metadata: {}, content }));
  return await wrote.promise;
}

test("a client with the token in the query string, like Jupyter's own, runs a cell", async () => {
  const { ask, row, host, port, signedIn } = await jupyter();
  const token = `token=${row.secret}`;
  const authorization = `token ${row.secret}`;
  const made = await ask(host, `/api/kernels?${token}`, { method: "POST", headers: { authorization } });
  expect(made.status, made.body).toBe(201);
  const { id: kernel } = JSON.parse(made.body);
  expect(await runCell({ host, port, token: row.secret, kernel })).toBe("42\n");
  // With a cookie too, where JupyterLab would have used the token of the query string.
  const cookie = await signedIn(row);
  expect((await ask(host, `/api/contents?${token}`, { headers: { cookie } })).status).toBe(200);
  await expect(runCell({ host, port, token: "wrong", kernel })).rejects.toThrow();
});

async function recording() {
  const seen: string[] = [];
  const upgraded: string[] = [];
  const environment = createServer((request, response) => {
    seen.push(request.url as string);
    response.end("notebook");
  });
  environment.on("upgrade", (request, socket) => {
    upgraded.push(request.url as string);
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  });
  const { port } = await openUpstream(environment);
  const given = await setupGateway();
  const row = await given.environment({ port });
  const host = given.hostOf(row);
  await poll(() => given.ask(host, "/").then(({ status }) => status === 401));
  return { ...given, row, host, seen, upgraded };
}

test("a token in the query string is accepted from programs only, and never forwarded", async () => {
  const { ask, open, row, host, seen, upgraded, appUrl } = await recording();
  const path = `/api?a=%2B1&token=${row.secret}&b=x+y`;
  expect((await ask(host, path)).status).toBe(200);
  const from = async (headers: Record<string, string>) => (await ask(host, path, { headers })).status;
  expect(await from({ "sec-fetch-site": "none" })).toBe(401);
  expect(await from({ "sec-fetch-site": "cross-site", origin: "http://evil.test" })).toBe(401);
  expect(await from({ origin: `http://${host}` })).toBe(401);
  // The header takes precedence over the query string.
  expect(await from({ authorization: "token wrong" })).toBe(401);
  expect((await ask(host, `/api?token=${row.secret}x`)).status).toBe(401);
  expect((await ask(host, "/api?token=")).status).toBe(401);
  const handshake = async (fields: string) => {
    const client = open(
      `GET /ws?token=${row.secret} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${fields}\r\n`,
    );
    await expect.poll(client.received).toMatch(/^HTTP\/1\.1 \d{3}/);
    client.socket.destroy();
    return Number(client.received().slice(9, 12));
  };
  expect([await handshake(""), await handshake(`Origin: http://${host}\r\n`)]).toEqual([101, 101]);
  expect(await handshake("Origin: http://evil.test\r\n")).toBe(403);
  expect([seen, upgraded]).toEqual([["/api?a=%2B1&b=x+y"], ["/ws", "/ws"]]);
  const page = await ask(host, `/lab?token=${row.secret}&x=1`, {
    headers: { accept: "text/html", "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
  });
  expect(page.headers.location).toContain(`${appUrl}/open?environment=${row.subdomain}&path=%2Flab%3Fx%3D1&visit=`);
});

test("every encoding of the parameter is removed, and nothing else is changed", () => {
  for (const [url, kept] of [
    ["/a", "/a"],
    ["/a?", "/a?"],
    ["/a?token=1", "/a"],
    ["/a?x=%ff&%74oken=1&y=;token=2", "/a?x=%ff&y=;token=2"],
    ["/a?token&x=token&tokens=1&token=2&token", "/a?x=token&tokens=1"],
    ["/token?a=%zz&&b", "/token?a=%zz&&b"],
  ] as const)
    expect([url, withoutToken(url)]).toEqual([url, kept]);
});

test("HTTP/1.0 has no upgrade: the request is treated as a plain one", async () => {
  const { open, row, host, seen, upgraded } = await recording();
  const client = open(
    `GET /plain HTTP/1.0\r\nHost: ${host}\r\nAuthorization: token ${row.secret}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await client.closed;
  expect(client.received()).toMatch(/^HTTP\/1\.1 200 [\s\S]*notebook$/);
  expect([seen, upgraded]).toEqual([["/plain"], []]);
});
