import type { ChildProcess } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../server/src/database/database.ts";
import { startEmbedded } from "../server/src/database/embedded/embedded.ts";
import { commandLogger } from "../server/src/logging/create-logger.ts";
import { until } from "../testing/customer.ts";
import { removeFolder, temporaryFolder } from "../testing/product.ts";
import { counted, rentFleet } from "../testing/rent-fleet.ts";
import { endProcess, type Replica, startReplica } from "../testing/start-replica.ts";
import { type Gaps, keepAsking, keepTalking } from "./gateways/clients.ts";
import { type RoundRobin, roundRobin } from "./gateways/round-robin.ts";
import { ask } from "./notebook.ts";
import { writeProof } from "./proof-page.ts";

const customers = 10;
const settleMs = 5000;

/**
 * Two gateways behind a plain round-robin proxy are replaced one after the other, and then one is killed, under ten customers who
 * each ask and talk over a WebSocket all the time: how long was each without an answer?
 */
export async function proveGateways(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { proxy, start, gateways, addresses } = await open(stack);
  const stopping = new AbortController();
  const replaced = clientsOf(addresses, stopping.signal);
  await sleep(settleMs);
  for (const [at, old] of gateways.entries()) {
    const successor = await start();
    proxy.add(successor.port);
    await endProcess(old.child);
    proxy.remove(old.port);
    gateways[at] = successor;
    await sleep(settleMs);
  }
  stopping.abort();
  const rolling = await sumOf(replaced);

  const killing = new AbortController();
  const cut = clientsOf(addresses, killing.signal);
  await sleep(settleMs);
  const [first] = gateways;
  first?.child.kill("SIGKILL");
  await sleep(settleMs);
  killing.abort();
  const killed = await sumOf(cut);
  const text = `\`npm run prove -- gateways\`: two gateways behind a plain round-robin proxy that tries the next one where a port is closed, ${customers} customers who each ask every 20 ms and talk over a WebSocket. Both gateways replaced, one after the other (SIGTERM): ${sentence(rolling)}. One of them killed (SIGKILL): ${sentence(killed)}. The load was ${loadavg()[0]?.toFixed(0)} on ${cpus().length} cores.`;
  console.log(text);
  writeProof("gateways", text);
}

interface Sum {
  readonly requests: Gaps;
  readonly talk: Gaps;
}

function sentence({ requests, talk }: Sum): string {
  return `the longest time without an answer was ${requests.longestMs.toFixed(0)} ms for requests (${requests.answers} answers, ${requests.failures} failed) and ${talk.longestMs.toFixed(0)} ms for WebSockets (${talk.answers} echoes, ${talk.failures} connected again)`;
}

type Address = Parameters<typeof keepAsking>[0];

function clientsOf(addresses: readonly Address[], signal: AbortSignal): readonly Promise<Sum>[] {
  return addresses.map(async (address) => {
    const [requests, talk] = await Promise.all([keepAsking(address, signal), keepTalking(address, signal)]);
    return { requests, talk };
  });
}

async function sumOf(clients: readonly Promise<Sum>[]): Promise<Sum> {
  const all = await Promise.all(clients);
  const sum = (of: (each: Sum) => Gaps): Gaps => ({
    longestMs: Math.max(...all.map((each) => of(each).longestMs)),
    answers: all.reduce((count, each) => count + of(each).answers, 0),
    failures: all.reduce((count, each) => count + of(each).failures, 0),
  });
  return { requests: sum(({ requests }) => requests), talk: sum(({ talk }) => talk) };
}

interface Opened {
  readonly proxy: RoundRobin;
  readonly start: () => Promise<Replica>;
  readonly gateways: Replica[];
  readonly addresses: readonly Address[];
}

async function open(stack: AsyncDisposableStack): Promise<Opened> {
  const directory = temporaryFolder();
  stack.defer(() => removeFolder(directory));
  const embedded = await startEmbedded({ directory: join(directory, "database"), log: commandLogger });
  stack.defer(embedded.stop);
  const { db, close } = await openDatabase(embedded.connection, commandLogger);
  stack.defer(close);
  const { user, password, host = "", database } = embedded.connection;
  const databaseUrl = `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}`;
  const proxy = await roundRobin();
  stack.defer(proxy.close);
  const started: ChildProcess[] = [];
  stack.defer(async () => void (await Promise.all(started.map(endProcess))));
  const options = {
    databaseUrl,
    fake: `gpus=${customers},startMs=50`,
    appUrl: `http://localhost:${proxy.port}`,
    started,
  };
  await startReplica("worker", options);
  await rentFleet(db, customers);
  await until("all to be active", async () => (await counted(db, "status = 'active'")) === customers, 60_000);
  const start = () => startReplica("gateway", options);
  const gateways = [await start(), await start()];
  for (const { port } of gateways) proxy.add(port);
  const rows = await db.selectFrom("environments").select(["subdomain", "secret"]).execute();
  const addresses = rows.map(({ subdomain, secret }) => ({ port: proxy.port, subdomain, token: secret }));
  for (const address of addresses)
    await until("an answer", async () => (await ask(address, "/api/terminals")).status === 200, 30_000);
  return { proxy, start, gateways, addresses };
}
