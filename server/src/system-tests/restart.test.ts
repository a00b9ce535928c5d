import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readlinkSync } from "node:fs";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { builtServer } from "../testing/built-programs.ts";
import { freePort } from "../testing/free-port.ts";
import { dataFolder, emptyDatabase } from "../testing/server-process.ts";
import { type Answer, type Ask, app, environments, rent } from "./testing/behind-proxy.ts";

const perl = "/usr/bin/perl";
const reason = existsSync(perl) ? "" : " (skipped: there is no perl here)";

/** What systemd does for berth.socket: one port for a server and its successor. */
const holder = `
use Socket; use POSIX;
$^F = 9; $| = 1;
my $port = shift;
socket(my $port_socket, PF_INET, SOCK_STREAM, 0); setsockopt($port_socket, SOL_SOCKET, SO_REUSEADDR, 1);
bind($port_socket, sockaddr_in($port, INADDR_LOOPBACK)) or die "bind: $!"; listen($port_socket, 100);
POSIX::dup2(fileno($port_socket), 3) if fileno($port_socket) != 3;
for (1 .. 2) {
  my $pid = fork;
  if (!$pid) { $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 1; exec @ARGV }
  print "pid $pid\\n";
  waitpid($pid, 0);
  print "ended $?\\n";
}`;

/** A server with an inherited port, which is started once more when it ends. */
async function startHeld() {
  const port = await freePort();
  const { url: DATABASE_URL } = await emptyDatabase();
  const names = { APP_URL: `http://${app}:${port}`, ENV_HOST: environments, PORT: String(port), PAYMENTS: "embedded" };
  const settings = { ...names, DATABASE_URL, DATA_DIR: dataFolder(), RUNTIME: "fake", LOG_LEVEL: "warn" };
  const child: ChildProcess = spawn(perl, ["-e", holder, String(port), process.execPath, builtServer], {
    env: { PATH: "/usr/bin:/bin", ENV_FILE: "", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (printed += chunk));
  const found = (pattern: RegExp) => [...printed.matchAll(pattern)].map(([, value]) => Number(value));
  onTestFinished(() => {
    child.kill("SIGKILL");
    const [, second] = found(/^pid (\d+)$/gm);
    if (second) process.kill(second, "SIGKILL");
  });
  const starts = () => found(/ready at http:\/\/[\w.]+:(\d+)/g);
  await expect.poll(starts, { timeout: 60_000, message: printed }).toEqual([port]);
  return { port, pid: () => found(/^pid (\d+)$/gm)[0] ?? 0, starts, found };
}

test.skipIf(reason)(
  `a restart loses no request: what runs is answered, what comes waits for the successor (G158)${reason}`,
  async () => {
    const { port, pid, starts, found } = await startHeld();
    const environment = await rent({ ask: (path, wanted) => ask(port, path, wanted) }, "kept");
    const socket = await openSocket(port, environment);
    const closed = once(socket, "close");
    const upload = beginUpload(port, environment);
    await upload.begun;

    const inherited = readlinkSync(`/proc/${pid()}/fd/3`);
    process.kill(pid(), "SIGTERM");
    const message = "the server listens no more";
    await expect.poll(() => linkOf(pid()), { timeout: 60_000, message }).not.toBe(inherited);
    const early = ask(port, "/healthz", { host: app });
    const answer = await upload.finish();
    expect(answer).toEqual({ status: 200, body: upload.body });
    await closed;
    expect((await early).status).toBe(200);
    await expect.poll(starts, { timeout: 60_000 }).toEqual([port, port]);
    expect(found(/^ended (\d+)$/gm), "its exit status").toEqual([0]);
  },
  180_000,
);

interface Rented {
  readonly host: string;
  /** The header that its owner's scripts send. */
  readonly secret: string;
}

function optionsOf(port: number, { host, secret }: Rented, path: string): RequestOptions {
  return { host: "127.0.0.1", port, path, agent: false, headers: { host: `${host}:${port}`, authorization: secret } };
}

/** A request that the environment answers with its body, which is sent in two halves. */
function beginUpload(port: number, environment: Rented) {
  const half = randomBytes(512).toString("hex");
  const sent = request({ ...optionsOf(port, environment, "/echo"), method: "POST" });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.write(half);
  return {
    body: `${half}${half}`,
    begun: answered,
    async finish() {
      sent.end(half);
      const [response] = await answered;
      return { status: response.statusCode, body: await text(response) };
    },
  };
}

async function openSocket(port: number, environment: Rented): Promise<Duplex> {
  const options = optionsOf(port, environment, "/echo");
  const key = { "sec-websocket-version": "13", "sec-websocket-key": randomBytes(16).toString("base64") };
  const headers = { ...options.headers, connection: "Upgrade", upgrade: "websocket", ...key };
  const sent = request({ ...options, headers });
  sent.end();
  const [, socket] = (await once(sent, "upgrade")) as [IncomingMessage, Duplex];
  return socket.on("error", () => {}).resume();
}

async function ask(port: number, path: string, { host, method = "GET", headers, body }: Ask): Promise<Answer> {
  const json = body && { "content-type": "application/json" };
  const all = { host: `${host}:${port}`, ...json, ...headers };
  const sent = request({ host: "127.0.0.1", port, path, method, headers: all, agent: false });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.end(body && JSON.stringify(body));
  const [response] = await answered;
  const content = await text(response);
  const isJson = String(response.headers["content-type"]).includes("json");
  return { status: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(content) : content };
}

function linkOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/3`);
  } catch {
    return "";
  }
}
