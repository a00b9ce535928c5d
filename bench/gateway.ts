import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../server/src/testing/free-port.ts";
import { until } from "../testing/customer.ts";
import type { Figure } from "./figure.ts";
import type { Load } from "./gateway/load.ts";
import { cpuMs, drive, end, firstLine, installProxy, spawnNode } from "./processes.ts";

const repeats = 7;
const forMs = 1500;

interface Proxy {
  readonly port: number;
  readonly pid: number | undefined;
}

/** The output of ours.ts. */
interface Ours {
  readonly port: number;
  /** Host and cookie of each environment. */
  readonly visits: readonly (readonly [string, string])[];
}

type Name = "ours" | "relay" | "chp";

interface Setup {
  readonly proxies: Readonly<Record<Name, Proxy>>;
  /** Header fields for each of ten hosts, each ending with CRLF. */
  readonly clients: readonly string[];
}

/**
 * A bare relay, ours with sign-in, and configurable-http-proxy: each in its own process on the same Node, alternating (G116). No
 * proxy on Node can do less than the relay.
 */
export async function measure(): Promise<readonly Figure[]> {
  const started: ChildProcess[] = [];
  const directory = mkdtempSync(join(tmpdir(), "berth-bench-"));
  try {
    const setup = await startAll(started, directory);
    const figures: Figure[] = [];
    for (const [title, load] of rounds) figures.push(...(await measureRound(title, load, setup)));
    const left = await leaks(setup);
    return [...figures, { name: "sockets left after 1,000 WebSockets were reset", unit: "", samples: [left] }];
  } finally {
    await Promise.all(started.map(end));
    rmSync(directory, { recursive: true, force: true });
  }
}

const rounds: readonly (readonly [string, Omit<Load, "port" | "clients">])[] = [
  ["requests", { kind: "requests", path: "/api", sockets: 32, forMs }],
  ["64 KB answers", { kind: "requests", path: "/large", sockets: 32, forMs }],
  ["echoes, 100 WebSockets", { kind: "echoes", sockets: 100, forMs }],
  ["echoes, 1,000 WebSockets", { kind: "echoes", sockets: 1000, forMs }],
];

async function startAll(started: ChildProcess[], directory: string): Promise<Setup> {
  const upstreamPort = Number(await firstLine(spawnNode(started, ["bench/gateway/upstream.ts"])));
  const own = spawnNode(started, ["bench/gateway/ours.ts", directory, String(upstreamPort)]);
  const { port, visits }: Ours = JSON.parse(await firstLine(own));
  const relay = spawnNode(started, ["bench/gateway/relay.ts", String(upstreamPort)]);
  const relayPort = Number(await firstLine(relay));
  const [chpPort, apiPort] = [await freePort(), await freePort()];
  const addresses = {
    ip: "127.0.0.1",
    port: chpPort,
    "api-ip": "127.0.0.1",
    "api-port": apiPort,
    "log-level": "error",
  };
  const options = Object.entries(addresses).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const chp = spawnNode(started, [installProxy(), "--host-routing", ...options]);
  const hosts = visits.map(([host]) => host);
  await addRoutes(apiPort, hosts, upstreamPort);
  const clients = visits.map(
    ([host, cookie]) =>
      `Host: ${host}\r\nCookie: ${cookie}; _xsrf=2|abc; username=me\r\nOrigin: http://${host}\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nAccept-Language: en\r\n`,
  );
  const proxies = {
    ours: { port, pid: own.pid },
    relay: { port: relayPort, pid: relay.pid },
    chp: { port: chpPort, pid: chp.pid },
  };
  return { proxies, clients };
}

/** Adds a route by host name, without the port, to configurable-http-proxy. */
async function addRoutes(apiPort: number, hosts: readonly string[], upstreamPort: number): Promise<void> {
  const body = JSON.stringify({ target: `http://127.0.0.1:${upstreamPort}` });
  for (const host of hosts) {
    const url = `http://127.0.0.1:${apiPort}/api/routes/${host.split(":")[0]}`;
    await until(
      "the peer's route",
      async () => (await fetch(url, { method: "POST", body }).catch(() => undefined))?.status === 201,
    );
  }
}

/** Requests a second and CPU time of each, beside configurable-http-proxy; of WebSockets beside the relay too. */
async function measureRound(title: string, load: Omit<Load, "port" | "clients">, setup: Setup): Promise<Figure[]> {
  const { proxies, clients } = setup;
  const names = ["relay", "ours", "chp"] as const;
  const of = () => ({ perSecond: [] as number[], cpuUs: [] as number[] });
  const results = { relay: of(), ours: of(), chp: of() };
  // Warms up the JIT compiler of each proxy.
  for (const name of names) await drive({ ...load, port: proxies[name].port, clients, forMs: 3000 });
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const name of names) {
      const { port, pid } = proxies[name];
      const before = cpuMs(pid);
      const { perSecond, count } = await drive({ ...load, port, clients });
      results[name].perSecond.push(perSecond);
      results[name].cpuUs.push(((cpuMs(pid) - before) * 1000) / count);
    }
  }
  const { ours, relay, chp } = results;
  const toRelay = { samples: ours.perSecond, peer: relay.perSecond, beside: "a bare relay" };
  const beside = "configurable-http-proxy";
  return [
    { name: `gateway, ${title}`, unit: "1/s", samples: ours.perSecond, peer: chp.perSecond, beside },
    { name: `gateway, CPU of ${title}`, unit: "us", samples: ours.cpuUs, peer: chp.cpuUs, beside },
    ...(load.kind === "echoes"
      ? [{ name: `gateway, ${title}, beside a relay`, unit: "1/s" as const, ...toRelay }]
      : []),
  ];
}

/** The sockets that are left three seconds after 1,000 clients reset their WebSockets. */
async function leaks({ proxies: { ours }, clients }: Setup): Promise<number> {
  await sleep(5000);
  const before = openSockets(ours.pid);
  await drive({ kind: "resets", port: ours.port, clients, sockets: 1000, forMs });
  await sleep(3000);
  return Math.max(0, openSockets(ours.pid) - before);
}

/** Open TCP sockets of a process, without the database's Unix sockets. */
function openSockets(pid: number | undefined): number {
  const folder = `/proc/${pid}/fd`;
  const tables = ["tcp", "tcp6"].map((name) => `/proc/${pid}/net/${name}`).filter(existsSync);
  const tcp = new Set(
    tables.flatMap((path) =>
      readFileSync(path, "utf8")
        .split("\n")
        .map((line) => line.trim().split(/\s+/)[9]),
    ),
  );
  return readdirSync(folder).filter((fd) => tcp.has(/^socket:\[(\d+)\]$/.exec(linkOf(join(folder, fd)))?.[1])).length;
}

/** Empty if the descriptor was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
