import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../testing/customer.ts";
import { freePort } from "../testing/free-port.ts";
import type { Load } from "./gateway/load.ts";
import { cpuMs, drive, end, firstLine, installProxy, ratio, spawnNode } from "./processes.ts";
import { median } from "./quantiles.ts";

const repeats = 5;
const forMs = 2000;

interface Proxy {
  readonly name: string;
  readonly port: number;
  /** Header fields for each of ten hosts, each ending with CRLF. */
  readonly clients: readonly string[];
  /** Undefined without a proxy. */
  readonly pid: number | undefined;
}

/** The output of ours.ts. */
interface Ours {
  readonly port: number;
  /** Host and cookie of each environment. */
  readonly visits: readonly (readonly [string, string])[];
  /** Undefined without metrics. */
  readonly metricsUrl?: string;
}

/**
 * Compares no proxy, a bare relay, ours with sign-in, ours whose metrics are scraped each second, and
 * configurable-http-proxy: each in its own process on the same Node, alternating, medians (G116). The relay is the floor, because no proxy on Node can do less.
 */
export async function run(): Promise<void> {
  const started: ChildProcess[] = [];
  const directory = mkdtempSync(join(tmpdir(), "berth-bench-"));
  try {
    const proxies = await startAll(started, directory);
    for (const [title, make] of rounds) await measure(title, proxies, make);
    await leaks(proxies);
  } finally {
    await Promise.all(started.map(end));
    rmSync(directory, { recursive: true, force: true });
  }
}

type Make = (proxy: Proxy) => Load;
const rounds: readonly (readonly [string, Make])[] = [
  [
    "requests, 32 connections",
    ({ port, clients }) => ({ kind: "requests", port, clients, path: "/api", sockets: 32, forMs }),
  ],
  [
    "64 KB answers, 32 connections",
    ({ port, clients }) => ({ kind: "requests", port, clients, path: "/large", sockets: 32, forMs }),
  ],
  ...[100, 1000].map((sockets): readonly [string, Make] => [
    `WebSocket echoes, ${sockets} sockets`,
    ({ port, clients }) => ({ kind: "echoes", port, clients, sockets, forMs }),
  ]),
];

async function startAll(started: ChildProcess[], directory: string): Promise<readonly Proxy[]> {
  const upstream = spawnNode(started, ["bench/gateway/upstream.ts"]);
  const upstreamPort = Number(await firstLine(upstream));
  const ours = await startOurs(started, ["bench/gateway/ours.ts", join(directory, "one"), String(upstreamPort)]);
  const scraped = await startOurs(started, [
    ...["bench/gateway/ours.ts", join(directory, "two"), String(upstreamPort), "metrics"],
  ]);
  const scrape = () => fetch(`${scraped.metricsUrl}/metrics`).then((reply) => reply.arrayBuffer());
  // Until its end; a scrape in progress then fails.
  setInterval(() => void scrape().catch(() => {}), 1000).unref();
  const relay = spawnNode(started, ["bench/gateway/relay.ts", String(upstreamPort)]);
  const relayPort = Number(await firstLine(relay));
  const [chpPort, apiPort] = [await freePort(), await freePort()];
  const chp = spawnNode(started, [
    installProxy(),
    "--ip",
    "127.0.0.1",
    "--port",
    String(chpPort),
    "--api-ip",
    "127.0.0.1",
    "--api-port",
    String(apiPort),
    "--host-routing",
    "--log-level",
    "error",
  ]);
  await addRoutes(
    apiPort,
    ours.visits.map(([host]) => host),
    upstreamPort,
  );
  const clients = clientsOf(ours);
  return [
    { name: "direct", port: upstreamPort, clients, pid: undefined },
    { name: "bare relay", port: relayPort, clients, pid: relay.pid },
    { name: "ours, signed in", port: ours.port, clients, pid: ours.pid },
    { name: "ours, scraped each second", port: scraped.port, clients: clientsOf(scraped), pid: scraped.pid },
    { name: "CHP", port: chpPort, clients, pid: chp.pid },
  ];
}

async function startOurs(started: ChildProcess[], args: readonly string[]): Promise<Ours & Pick<Proxy, "pid">> {
  const child = spawnNode(started, args);
  const ours: Ours = JSON.parse(await firstLine(child));
  return { ...ours, pid: child.pid };
}

function clientsOf({ visits }: Ours): readonly string[] {
  return visits.map(
    ([host, cookie]) =>
      `Host: ${host}\r\nCookie: ${cookie}; _xsrf=2|abc; username=me\r\nOrigin: http://${host}\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nAccept-Language: en\r\n`,
  );
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

async function measure(title: string, proxies: readonly Proxy[], make: Make): Promise<void> {
  const results = new Map<string, { perSecond: number[]; p99Ms: number[]; cpuUs: number[] }>();
  // Warms up the JIT compiler of each proxy.
  for (const proxy of proxies) await drive({ ...make(proxy), forMs: 4000 });
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const proxy of proxies) {
      const before = cpuMs(proxy.pid);
      const { perSecond, p99Ms, count } = await drive(make(proxy));
      const of = results.get(proxy.name) ?? { perSecond: [], p99Ms: [], cpuUs: [] };
      results.set(proxy.name, of);
      of.perSecond.push(perSecond);
      of.p99Ms.push(p99Ms);
      of.cpuUs.push(((cpuMs(proxy.pid) - before) * 1000) / count);
    }
  }
  const chp = results.get("CHP");
  const rows = [...results].map(([name, { perSecond, p99Ms, cpuUs }]) => ({
    proxy: name,
    "per second": Math.round(median(perSecond)),
    "x CHP": ratio(median(perSecond), median(chp?.perSecond ?? [])),
    "p99 ms": median(p99Ms).toFixed(1),
    "CPU us each": Number.isNaN(median(cpuUs)) ? "-" : median(cpuUs).toFixed(1),
    "CPU / CHP": ratio(median(cpuUs), median(chp?.cpuUs ?? [])),
  }));
  console.log(`\n${title}: median of ${repeats}`);
  console.table(rows);
}

/** Counts sockets that are left three seconds after 1,000 clients reset their WebSockets. */
async function leaks(proxies: readonly Proxy[]): Promise<void> {
  const rows: { proxy: string; "sockets left": number | string }[] = [];
  for (const proxy of proxies.filter(({ pid }) => pid !== undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 5000));
    const before = openSockets(proxy.pid);
    await drive({ kind: "resets", port: proxy.port, clients: proxy.clients, sockets: 1000, forMs });
    await new Promise((resolve) => setTimeout(resolve, 3000));
    rows.push({
      proxy: proxy.name,
      "sockets left": before === undefined ? "-" : Math.max(0, (openSockets(proxy.pid) ?? 0) - before),
    });
  }
  console.log("\nSockets left after 1,000 resets of open WebSockets");
  console.table(rows);
}

/** Open TCP sockets of a process, without the database's Unix sockets; undefined without /proc. */
function openSockets(pid: number | undefined): number | undefined {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return undefined;
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
