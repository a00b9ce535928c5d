import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import type { Driver, Endpoint, Spec } from "../../drivers/driver.ts";
import { callLab, startReady, testSpec } from "../../drivers/testing/drive-run.ts";
import { openProcessMachine } from "../../drivers/testing/process-machine.ts";
import { jumpHostKey } from "../../installation/jump-host-key.ts";
import { openUpstream, setupGateway } from "../testing/setup-gateway.ts";
import { addKey, listenSsh, sshClient, temporaryFolder } from "./testing/ssh-client.ts";

const programs = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/rsync"];
const absent = programs.filter((each) => !existsSync(each));
const title = absent.length === 0 ? "SSH" : `SSH, skipped because there is no ${absent.join(", ")}`;

describe.skipIf(absent.length > 0)(title, () => {
  let machine: Awaited<ReturnType<typeof openProcessMachine>>;
  let driver: Driver;
  let wanted: Spec;
  /** In the first test, because waiting is asserting. */
  let started: ReturnType<typeof start> | undefined;
  beforeAll(async () => {
    machine = await openProcessMachine();
    driver = await machine.open();
    await driver.prepare("jupyter");
    wanted = testSpec();
  }, 300_000);
  afterAll(async () => {
    await driver.stop(wanted.id, 0);
    await machine.close();
  });

  async function start(): Promise<{ endpoint: Endpoint; hostKey: string }> {
    await startReady(driver, wanted);
    const seen = await driver.observe(wanted.id);
    if (seen.state !== "running") throw new Error(`it is ${seen.state}`);
    const { body } = await callLab(driver, wanted, "GET", "/berth/ssh/host-key", 30_000);
    const { host_key: hostKey, user } = body as { host_key: string; user: string };
    expect(user).toBe("berth");
    return { endpoint: seen.endpoint, hostKey };
  }

  /** The environment `demo` with this run, its owner's key and a client. */
  async function owner(type?: string) {
    started ??= start();
    const { endpoint, hostKey } = await started;
    const secret = randomBytes(32);
    const given = await setupGateway({ secret });
    const row = await given.environment({ subdomain: "demo", port: 1 });
    await given.db
      .updateTable("environments")
      .set({ endpoint: JSON.stringify(endpoint), run_token: wanted.token })
      .where("id", "=", row.id)
      .execute();
    const port = await listenSsh(given.gateway);
    const folder = temporaryFolder();
    const keyId = await addKey(given.db, folder, row.userId, type);
    const known = [`[127.0.0.1]:${port} ${jumpHostKey(secret).publicKey}`, `demo.berth ${hostKey}`];
    const client = sshClient(folder, port, known);
    // Its route is read.
    await expect.poll(() => given.ask(given.hostOf(row), "/").then(({ status }) => status)).not.toBe(404);
    return { ...given, endpoint, row, port, folder, keyId, known, client };
  }

  /** A session that runs until it is cut; returns when it has begun. */
  async function session(client: ReturnType<typeof sshClient>) {
    const begun = client.begin("demo.berth", "echo up; sleep 600");
    await expect.poll(begun.printed, { timeout: 30_000 }).toBe("up\n");
    return begun;
  }

  test("G404 a command has its output, errors and exit code, a terminal is one, and the run's secret stays out", async () => {
    const { client } = await owner();
    const done = await client.ssh(["demo.berth", "echo out; echo err >&2; exit 7"]);
    expect(done).toEqual({ code: 7, stdout: "out\n", stderr: "err\n" });
    const terminal = await client.ssh(["-tt", "demo.berth", "tty; id -un"]);
    expect(terminal.stdout).toMatch(/^\/dev\/pts\/\d+\r\nuser\r\n/);
    const shell = await client.ssh(["-T", "demo.berth"], "which python pip; pwd; env\n");
    expect(shell.stdout).toContain(
      "/home/user/.local/python/bin/python\n/home/user/.local/python/bin/pip\n/home/user\n",
    );
    expect(shell.stdout).not.toContain(wanted.token);
    expect(shell.stdout).not.toContain("JUPYTER_TOKEN");
  }, 60_000);

  test("50 MB go up and down by scp as they were, and files by sftp and rsync", async () => {
    const { client, folder } = await owner();
    const data = randomBytes(50 * 2 ** 20);
    writeFileSync(join(folder, "data"), data);
    const scp = (...paths: string[]) => client.run("scp", ["-q", "-F", client.config, ...paths]);
    expect(await scp(join(folder, "data"), "demo.berth:data")).toMatchObject({ code: 0, stderr: "" });
    expect(await scp("demo.berth:data", join(folder, "back"))).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(folder, "back")).equals(data)).toBe(true);
    const batch = `put ${folder}/config file\nls file\nget file ${folder}/file\n`;
    const sftp = await client.run("sftp", ["-q", "-F", client.config, "demo.berth"], batch);
    expect(sftp).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "file"), "utf8")).toBe(readFileSync(client.config, "utf8"));
    const rsync = await client.run("rsync", [
      "-a",
      "-e",
      `ssh -F ${client.config}`,
      "demo.berth:file",
      `${folder}/again`,
    ]);
    expect(rsync).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(existsSync(join(folder, "again"))).toBe(true);
  }, 120_000);

  test("ports are forwarded both ways, and SOCKS leads inside", async () => {
    const { client, folder } = await owner();
    const ours = await openUpstream(createServer((_request, response) => response.end("from outside")));
    const code = `import http.server, sys, urllib.request, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"from inside")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, urllib.request.urlopen("http://127.0.0.1:" + open("forwarded").read().strip()).read().decode(), flush=True)
sys.stdin.read()`;
    writeFileSync(join(folder, "serve.py"), code);
    await client.run("scp", ["-q", "-F", client.config, join(folder, "serve.py"), "demo.berth:serve.py"]);
    const remote = await freePort();
    const socks = await freePort();
    const begun = client.begin(
      ...["-R", `${remote}:127.0.0.1:${ours.port}`, "-D", String(socks), "demo.berth"],
      `echo ${remote} > forwarded; python serve.py < <(sleep 600)`,
    );
    await expect.poll(begun.printed, { timeout: 30_000 }).toMatch(/^\d+ from outside\n$/);
    const program = Number(begun.printed().split(" ")[0]);
    expect(await throughSocks(socks, program)).toContain("from inside");
    const local = await freePort();
    const forwarding = client.begin("-L", `${local}:127.0.0.1:${program}`, "demo.berth", "echo up; sleep 600");
    await expect.poll(forwarding.printed, { timeout: 30_000 }).toBe("up\n");
    expect(await (await fetch(`http://127.0.0.1:${local}/`)).text()).toBe("from inside");
  }, 90_000);

  test("G405 RSA and ECDSA keys sign in too, also with a name that the jump host has not heard", async () => {
    for (const type of ["rsa", "ecdsa"]) {
      const { client } = await owner(type);
      expect(await client.ssh(["demo.berth", "echo in"])).toEqual({ code: 0, stdout: "in\n", stderr: "" });
    }
  }, 60_000);

  test("another account's environment is answered as one that does not exist, and keys of nobody are not taken", async () => {
    const { client, environment, ask, hostOf, port, known } = await owner();
    const foreign = await environment({ subdomain: "other", user_id: "somebody", port: 1 });
    await expect.poll(() => ask(hostOf(foreign), "/").then(({ status }) => status)).not.toBe(404);
    const said = async (name: string) => {
      const { code, stderr } = await client.ssh([`${name}.berth`, "true"]);
      return { code, stderr: stderr.replaceAll(name, "NAME") };
    };
    const answer = await said("other");
    expect(answer).toEqual(await said("nobody"));
    expect(answer.stderr).toContain("You have no environment NAME");
    const folder = temporaryFolder();
    const nobody = sshClient(folder, port, known);
    await nobody.run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "key")]);
    const refused = await nobody.ssh(["demo.berth", "true"]);
    expect(refused).toMatchObject({ code: 255 });
    expect(refused.stderr).toContain("me@127.0.0.1: Permission denied (publickey)");
  }, 60_000);

  test("the jump host has no shell, no command, no files, no forwarded port and no other place", async () => {
    const { client, port } = await owner();
    const noShell = "This is a jump host without a shell: connect to an environment through it";
    expect((await client.ssh(["jump", "id"])).stderr).toContain(noShell);
    expect((await client.ssh(["-T", "jump"], "id\n")).stderr).toContain(noShell);
    expect((await client.run("sftp", ["-F", client.config, "jump"])).stderr).toContain(noShell);
    expect((await client.ssh(["-o", "ExitOnForwardFailure=yes", "-N", "-R", "0:127.0.0.1:1", "jump"])).code).toBe(255);
    for (const place of [`127.0.0.1:${port}`, "demo.berth:2222", "169.254.169.254:80"])
      expect((await client.ssh(["-W", place, "jump"])).stderr).toContain("Only environments are reached");
  }, 60_000);

  test.each([
    ["a pause", { desired: "paused" }, "demo is paused: resume it on its page, then connect again"],
    ["a stop", { desired: "stopped" }, "demo is stopped: restart it on its page, then connect again"],
    ["the end", { desired: "terminated" }, "demo has ended"],
    ["the end of its time", { expires_at: new Date(1) }, "demo has ended"],
    ["a new password of the account", { secret: "new" }, undefined],
  ] as const)("%s cuts a session", async (_name, values, refusal) => {
    const { client, db, row, gateway } = await owner();
    const running = await session(client);
    await db.updateTable("environments").set(values).where("id", "=", row.id).execute();
    expect((await running.ended).code).toBe(255);
    expect(gateway.counts).toMatchObject({ ssh: 1, openSsh: 0 });
    const again = await client.ssh(["demo.berth", "true"]);
    expect(again).toMatchObject({ code: refusal ? 255 : 0 });
    if (refusal) expect(again.stderr).toContain(refusal);
  });

  test("fifty jumps are open at once, and an environment has twenty", async () => {
    const { client, environment, db, gateway, ask, hostOf, endpoint } = await owner();
    const held = { endpoint: JSON.stringify(endpoint), run_token: wanted.token };
    for (const subdomain of ["demo2", "demo3"]) {
      const row = await environment({ subdomain, port: 1 });
      await db.updateTable("environments").set(held).where("id", "=", row.id).execute();
      await expect.poll(() => ask(hostOf(row), "/").then(({ status }) => status)).not.toBe(404);
    }
    const places = [...Array(20).fill("demo"), ...Array(20).fill("demo2"), ...Array(10).fill("demo3")];
    const jumps = places.map((place) => client.begin("-W", `${place}.berth:22`, "jump"));
    // Each has the greeting of an SSH server of its own.
    await expect
      .poll(() => jumps.filter(({ printed }) => printed().startsWith("SSH-2.0-OpenSSH")).length, { timeout: 60_000 })
      .toBe(50);
    expect(gateway.counts.openSsh).toBe(50);
    expect((await client.ssh(["-W", "demo.berth:22", "jump"])).stderr).toContain("has 20 SSH connections already");
    for (const { kill } of jumps) kill();
    await expect.poll(() => gateway.counts.openSsh, { timeout: 30_000 }).toBe(0);
    expect(await client.ssh(["demo.berth", "echo in"])).toMatchObject({ code: 0, stdout: "in\n" });
  }, 120_000);

  test("G406 the environment's token opens SSH in a WebSocket, and its keys are asked for inside", async () => {
    const { client, db, row, hostOf, gateway, ask, open, signedIn } = await owner();
    const program = join(import.meta.dirname, "testing/websocket-proxy.ts");
    const by = (token: string, ...args: string[]) => {
      const proxy = `${process.execPath} ${program} ws://${hostOf(row).replace("demo.localhost", "127.0.0.1")}/_berth/ssh ${hostOf(row)} ${token}`;
      return client.begin("-o", `ProxyCommand=${proxy}`, "demo.berth", ...args);
    };
    expect(await by(row.secret, "seq 100000 | sha256sum; exit 3").ended).toMatchObject({
      code: 3,
      stdout: `${createHash("sha256")
        .update(Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join(""))
        .digest("hex")}  -\n`,
    });
    expect((await by("wrong", "true").ended).stderr).toContain("That is not this environment's token");
    const cookie = await signedIn(row);
    const page = open(
      `GET /_berth/ssh HTTP/1.1\r\nHost: ${hostOf(row)}\r\nOrigin: http://${hostOf(row)}\r\nCookie: ${cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
    await page.closed;
    expect(page.received()).toMatch(/^HTTP\/1\.1 401 /);
    expect((await ask(hostOf(row), "/_berth/ssh", { headers: { cookie } })).status).toBe(404);
    const running = by(row.secret, "echo up; sleep 600");
    await expect.poll(running.printed, { timeout: 30_000 }).toBe("up\n");
    await db.updateTable("environments").set({ desired: "paused" }).where("id", "=", row.id).execute();
    expect((await running.ended).code).toBe(255);
    await expect.poll(() => gateway.counts.openSsh).toBe(0);
    await db.updateTable("environments").set({ desired: "running" }).where("id", "=", row.id).execute();
    const again = by(row.secret, "echo up; sleep 600");
    await expect.poll(again.printed, { timeout: 30_000 }).toBe("up\n");
    await db.deleteFrom("ssh_keys").execute();
    expect((await again.ended).code).toBe(255);
    expect((await by(row.secret, "true").ended).stderr).toContain("Your account has no SSH key");
  }, 60_000);

  test("a removed key, a suspended account and a gateway that stops cut a session", async () => {
    const { client, db, keyId, row, gateway } = await owner();
    const running = await session(client);
    const key = await db.selectFrom("ssh_keys").selectAll().executeTakeFirstOrThrow();
    expect(key.last_used_at).not.toBe(null);
    await db.deleteFrom("ssh_keys").where("id", "=", keyId).execute();
    expect((await running.ended).code).toBe(255);
    expect((await client.ssh(["demo.berth", "true"])).stderr).toContain("Permission denied (publickey)");
    await db.insertInto("ssh_keys").values(key).execute();
    const other = await session(client);
    await db.insertInto("account_suspensions").values({ id: newId(), user_id: row.userId, reason: "mining" }).execute();
    expect((await client.ssh(["demo.berth", "true"])).stderr).toContain("Permission denied (publickey)");
    await gateway.close();
    expect((await other.ended).code).toBe(255);
  }, 60_000);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** One request through a SOCKS 5 proxy on loopback. */
async function throughSocks(proxy: number, port: number): Promise<string> {
  const socket = connect(proxy, "127.0.0.1");
  socket.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
  socket.write("GET / HTTP/1.0\r\n\r\n");
  let answer = "";
  for await (const bytes of socket) answer += bytes.toString("latin1");
  return answer;
}
