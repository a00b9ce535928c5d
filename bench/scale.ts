import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, openDatabase } from "../server/src/database/database.ts";
import { startEmbedded } from "../server/src/database/embedded/embedded.ts";
import { fakeEngineDriver } from "../server/src/drivers/fake/fake-engine-driver.ts";
import { commandLogger } from "../server/src/logging/create-logger.ts";
import { removeFolder, temporaryFolder } from "../testing/product.ts";
import { startReplica } from "../testing/start-replica.ts";
import type { Figure } from "./figure.ts";
import { end, firstLine } from "./processes.ts";
import { quantile } from "./quantiles.ts";
import { counters, difference } from "./scale/scale-counters.ts";
import { measureLags } from "./scale/scale-lag.ts";
import { type Bench, counted } from "./scale/scale-processes.ts";
import { requests } from "./scale/scale-requests.ts";
import { seedActive } from "./scale/scale-seed.ts";

/** Every loop has been through once: the slowest looks each minute. */
const settleMs = 60_000;

/**
 * Environments of a fake engine, reconciled by 1 to 4 workers and served by 1 to 3 gateways, each a process of its own, on one
 * PostgreSQL. Words after the name: how many environments and workers, such as `1000,10000 1,4`. The lag is the time from
 * a change outside (a run ends by itself, an environment's time is over) until its row says so. Prints what else was used.
 */
export async function measure(args: readonly string[]): Promise<readonly Figure[]> {
  const [environments, workers] = args.map((list) => list.split(",").map(Number));
  const figures: Figure[] = [];
  for (const count of environments ?? [100, 1000, 10_000])
    figures.push(...(await measureOne(count, workers ?? [1, 2, 4])));
  return figures;
}

async function measureOne(count: number, workers: readonly number[]): Promise<Figure[]> {
  const directory = temporaryFolder();
  const started: ChildProcess[] = [];
  const embedded = await startEmbedded({
    directory: join(directory, "database"),
    connections: 200,
    superuser: true,
    log: commandLogger,
  });
  const database = await openDatabase(embedded.connection, commandLogger);
  try {
    const { user, password, host = "", database: name } = embedded.connection;
    const databaseUrl = `postgres://${user}:${password}@localhost/${name}?host=${encodeURIComponent(host)}`;
    const bench = await openBench({ database, databaseUrl, started, count });
    const began = performance.now();
    await seedActive(database.db, fakeEngineDriver(Number(bench.fake.split("=")[1])), count);
    console.log(`\n${count} environments, seeded in ${seconds(performance.now() - began)}`);
    bench.gateways.push(await startReplica("gateway", bench));
    const figures: Figure[] = [];
    for (const wanted of workers) figures.push(...(await steady(bench, wanted)));
    return [...figures, ...(await requests(bench))];
  } finally {
    await Promise.all(started.map(end));
    await database.close();
    await embedded.stop();
    removeFolder(directory);
  }
}

interface Opened {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly started: ChildProcess[];
  readonly count: number;
}

async function openBench({ database, databaseUrl, started, count }: Opened): Promise<Bench> {
  const engine = spawn(process.execPath, [join(import.meta.dirname, "scale", "scale-engine.ts"), String(count)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  started.push(engine);
  const enginePort = Number(await firstLine(engine));
  const heard = { count: 0, listener: (_: string) => {} };
  await database.listen("changes", (payload) => {
    heard.count += 1;
    heard.listener(/"id" ?: ?"([^"]+)"/.exec(payload)?.[1] ?? "");
  });
  const fake = `engine=${enginePort}`;
  return { database, databaseUrl, fake, started, count, engine, heard, workers: [], gateways: [] };
}

async function steady(bench: Bench, workers: number): Promise<Figure[]> {
  while (bench.workers.length < workers) bench.workers.push(await startReplica("worker", bench));
  await sleep(settleMs);
  const before = await counters(bench);
  const { ended, expired, overdueMs } = await measureLags(bench);
  const after = await counters(bench);
  console.log(`\n${bench.count} environments, ${counted(workers, "worker")}, a minute`);
  for (const [what, figure] of Object.entries(difference(before, after))) console.log(`  ${what.padEnd(44)} ${figure}`);
  const of = `scale, ${bench.count} environments, ${counted(workers, "worker")}`;
  return [
    { name: `${of}: a run ended, p99 until its row says so`, unit: "ms", samples: [quantile(ended, 0.99)] },
    { name: `${of}: expired, p99 until terminated`, unit: "ms", samples: [quantile(expired, 0.99)] },
    { name: `${of}: due and not taken, longest`, unit: "ms", samples: [overdueMs] },
  ];
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
