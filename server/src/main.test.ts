import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import { expect, inject, onTestFinished, test } from "vitest";
import { embeddedConnection } from "./database/embedded/embedded.ts";
import { severedNetwork } from "./database/testing/severed-network.ts";
import { dataFolder, emptyDatabase, processesOf, start } from "./testing/server-process.ts";

/** Starts it, and expects it to end with one message for a person, and nothing left behind. */
async function refusal(env: Record<string, string>): Promise<string> {
  const { said, ended } = start(env);
  expect(await ended, said.err).toBe(1);
  expect(said.out, "nothing but the message").toBe("");
  expect(said.err, "no stack").not.toMatch(/^\s+at .*:\d+/m);
  expect(said.err.endsWith("\n")).toBe(true);
  return said.err.trimEnd();
}

async function post(url: string, path: string, body: object) {
  const response = await fetch(`${url.replace("localhost", "127.0.0.1")}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const signIn = (url: string) =>
  post(url, "/identity/v1/accounts:signInWithPassword?key=local", {
    email: "ada@example.com",
    password: "good password 1",
  });

test("half a pair of payment keys is one message before anything is started", async () => {
  const folder = dataFolder();
  const message = await refusal({
    DATA_DIR: folder,
    RAZORPAY_KEY_ID: "rzp_test_half",
    SLOTS: "8",
    BRAND_NAME: "Berth",
  });
  expect(message).toBe(
    "The settings do not fit together:\n  - RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: set both, or neither for the embedded provider",
  );
  expect(readdirSync(folder)).toEqual([]);
});

test("RUNTIME=docker without an engine names the setting", async () => {
  const { url: DATABASE_URL } = await emptyDatabase();
  const docker = { RUNTIME: "docker", DOCKER_HOST: "unix:///nowhere/docker.sock" };
  expect(await refusal({ DATA_DIR: dataFolder(), DATABASE_URL, ...docker })).toBe(
    "No Docker Engine answers at /nowhere/docker.sock: install or start it, or set DOCKER_HOST",
  );
});

test("a port in use names the setting before anything is started", async () => {
  const folder = dataFolder();
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const address = taken.address();
  const port = String(typeof address === "object" && address?.port);
  const message = await refusal({ DATA_DIR: folder, PORT: port });
  expect(message).toBe(`Port ${port} is taken by another program. Stop it, or set PORT to another port.`);
  expect(readdirSync(folder)).toEqual([]);
});

test("without Python and a prepared runtime the start names the package, and stops its database", async () => {
  const folder = dataFolder();
  const message = await refusal({ DATA_DIR: folder, RUNTIME: "process", PATH: pathWith("unshare", "true") });
  expect(message).toMatch(/^There is no Python on this machine\. .* apt-get install python3-venv$/);
  expect(processesOf(folder)).toEqual([]);
});

test("G111 homes of another installation in DATA_DIR are one message", async () => {
  const folder = dataFolder();
  const { url: DATABASE_URL } = await emptyDatabase();
  mkdirSync(join(folder, "homes"));
  writeFileSync(join(folder, "homes", ".installation"), "another\n");
  expect(await refusal({ DATA_DIR: folder, DATABASE_URL, RUNTIME: "process" })).toMatch(
    /homes has the files of another installation \(another\), and the database is that of \w+: check DATA_DIR and DATABASE_URL\.$/,
  );
});

test("an unreachable database is one message, without its password", async () => {
  const folder = dataFolder();
  const url = "postgres://berth:hidden@127.0.0.1:9/berth";
  const message = await refusal({ DATA_DIR: folder, DATABASE_URL: url });
  expect(message).toMatch(/^The database of DATABASE_URL cannot be reached: .*ECONNREFUSED/);
  expect(message).not.toContain("hidden");
});

test("a folder of BACKUP that cannot be written is one message before the database is asked", async () => {
  const closed = { BACKUP: "/nowhere/backups", DATABASE_URL: "postgres://berth@127.0.0.1:9/berth" };
  expect(await refusal({ DATA_DIR: dataFolder(), ...closed })).toMatch(
    /^Nothing can be written to \/nowhere\/backups, the folder of BACKUP \(ENOENT\): make it with install -d -m 700/,
  );
});

/** What the server sends, in this order; the database is gone with the last of them. */
test.each([
  ["the check of notifications", ["listen echo_"]],
  ["the installation's id", ['from "installation"']],
  ["the connection that listens", ['from "installation"', "client_encoding"]],
  ["the registration of the machine", ['insert into "hosts"']],
  ["its own provider", ["insert into embedded_gateway_account"]],
])("a database that goes away in the middle of a start, at %s, is one sentence", async (_, texts) => {
  const { host: cluster = "" } = inject("cluster");
  const { url } = await emptyDatabase();
  const awaited = [...texts];
  const behind = new URL(url);
  behind.searchParams.set(
    "host",
    await severedNetwork(cluster, (sent) => {
      if (awaited[0] !== undefined && sent.includes(awaited[0])) awaited.shift();
      return awaited.length === 0;
    }),
  );
  const { said, ended } = start({ DATA_DIR: dataFolder(), DATABASE_URL: behind.href });
  expect(await ended, said.err).toBe(1);
  expect(awaited).toEqual([]);
  expect(said.out).toBe("");
  const printed = said.err.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  expect(printed).toEqual([expect.stringMatching(/^The database .*cannot be reached.*: \w.+$/)]);
});

test("one data folder has one server; after a kill the next start takes over its database; a stop exits with 0 and logs no failure", async () => {
  const folder = dataFolder();
  const both = [start({ DATA_DIR: folder }), start({ DATA_DIR: folder })];
  const loser = await Promise.race(both.map((one) => one.ended.then(() => one)));
  const first = both.find((one) => one !== loser) ?? loser;
  const inUse =
    /^The data folder \S+ is in use by another running server\. Stop it first, or set DATA_DIR to another folder\.$/;
  expect([await loser.ended, loser.said.out, loser.said.err.trimEnd()]).toEqual([1, "", expect.stringMatching(inUse)]);
  const url = await first.url();
  const account = { email: "ada@example.com", password: "good password 1", name: "Ada" };
  expect((await post(url, "/auth/signup", account)).status).toBe(200);
  const { body: before } = await signIn(url);
  const { host: sockets = expect.fail() } = embeddedConnection(join(folder, "database"));
  const databases = processesOf(folder);
  expect(databases.length).toBeGreaterThan(0);

  expect(await refusal({ DATA_DIR: folder })).toMatch(inUse);
  expect((await signIn(url)).status, "the first one goes on").toBe(200);
  expect(processesOf(folder)).toEqual(databases);

  expect(first.said.err).toBe("");
  first.child.kill("SIGKILL");
  await first.ended;
  expect(processesOf(folder), "its database outlives it").not.toEqual([]);
  const second = start({ DATA_DIR: folder });
  const secondUrl = await second.url();
  expect((await signIn(secondUrl)).body["localId"]).toBe(before["localId"]);
  expect(processesOf(folder).filter((pid) => databases.includes(pid))).toEqual([]);
  second.child.kill("SIGTERM");
  expect(await second.ended, second.said.err).toBe(0);
  expect(second.said.err).toBe("");
  expect(processesOf(folder)).toEqual([]);
  expect(existsSync(sockets), "its socket's folder").toBe(false);
  expect(() => embeddedConnection(join(folder, "database"))).toThrow("is not running: start the server");

  const began = performance.now();
  const third = start({ DATA_DIR: folder });
  await third.url();
  const seconds = (performance.now() - began) / 1000;
  console.log(`a second start: ${seconds.toFixed(2)} s`);
  expect(seconds).toBeLessThan(10);
  // Right after the start, while its loops begin.
  third.child.kill("SIGINT");
  const again = setInterval(() => third.child.kill("SIGINT"), 5);
  expect([await third.ended, third.said.err], "Ctrl-C reaches it from the terminal and from npm start").toEqual([
    0,
    "",
  ]);
  clearInterval(again);
  expect(processesOf(folder)).toEqual([]);
}, 40_000);

test("a signal during the start leaves no database running", async () => {
  const folder = dataFolder();
  const { child, said, ended } = start({ DATA_DIR: folder });
  await expect.poll(() => processesOf(folder).length, { timeout: 20_000, interval: 5 }).toBeGreaterThan(0);
  child.kill("SIGTERM");
  expect(await ended, said.err).toBe(0);
  await expect.poll(() => processesOf(folder)).toEqual([]);
}, 40_000);

test("with SMTP_URL a reset mail is sent there, and the outbox page is off", async () => {
  const taken: string[] = [];
  const relay = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === "berth" && password === "p@ss" ? done(null, { user: username }) : done(new Error("Not you")),
    async onData(stream, { envelope }, done) {
      taken.push(`${envelope.rcptTo[0]?.address}\n${await text(stream)}`);
      done();
    },
  });
  relay.listen(0, "127.0.0.1");
  await once(relay.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => relay.close(resolve)));
  const { port } = relay.server.address() as AddressInfo;
  const smtp = { SMTP_URL: `smtp://berth:p%40ss@127.0.0.1:${port}`, MAIL_FROM: "hello@berth.example" };
  const { url: DATABASE_URL } = await emptyDatabase();
  const { url } = start({ DATA_DIR: dataFolder(), DATABASE_URL, ...smtp });
  const address = await url();
  const email = "ada@uni.example";
  expect((await post(address, "/auth/signup", { email, password: "good password 1" })).status).toBe(200);
  expect((await post(address, "/auth/reset-password", { email })).status).toBe(200);
  await expect.poll(() => taken, { timeout: 10_000 }).toEqual([expect.stringMatching(/^ada@uni\.example\n/)]);
  expect(taken[0]).toMatch(/^Subject: Reset your Berth password/m);
  expect((await fetch(`${address}/outbox`, { headers: { accept: "application/json" } })).status).toBe(404);
});

/** A PATH with nothing on it but these: what the database is started with where the tests run as root. */
function pathWith(...programs: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-path-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const program of programs) symlinkSync(`/usr/bin/${program}`, join(folder, program));
  return folder;
}
