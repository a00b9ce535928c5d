import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../server/src/database/database.ts";
import { until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { counted, fleet, rentFleet } from "../testing/rent-fleet.ts";
import { openProductDatabase } from "../testing/seed.ts";
import { cpuMs } from "./processes.ts";
import { quantile } from "./quantiles.ts";

const expiring = 500;
const idleSeconds = 30;
const spreadSeconds = 60;

/** 1,000 environments: concurrent starts, a pass over all, idle load, and 500 that end within a minute (P2). */
export async function run(): Promise<void> {
  const env = { RUNTIME: "fake", FAKE_DRIVER: `gpus=${fleet},startMs=50` };
  const product = await startProduct({ env });
  const { db, close } = await openProductDatabase(product);
  try {
    const began = performance.now();
    await rentFleet(db);
    await until("all to be active", async () => (await counted(db, "status = 'active'")) === fleet, 600_000);
    print("paid to active, all at once", `${seconds(performance.now() - began)} s`);
    await pass(product, db);
    await idle(product);
    await expire(product, db);
    console.log(`load of the last minute: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`);
  } finally {
    await close();
    await product.stop();
    removeFolder(product.dataDir);
  }
}

/** Makes every row due at once, as after an outage, and waits until all are reconciled. */
async function pass({ pid }: Product, db: Db): Promise<void> {
  const took: number[] = [];
  const before = cpuMs(pid) / 1000;
  for (let round = 0; round < 5; round++) {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    const now = rows[0]?.now ?? new Date();
    const began = performance.now();
    await sql`
      with idle as (select id from environments where lease_token is null order by id for update)
      update environments e set due_at = ${now} from idle where e.id = idle.id`.execute(db);
    await sql`select pg_notify('changes', '{"kind": "environment", "id": "", "user": ""}')`.execute(db);
    await until(
      "a whole pass",
      async () => (await counted(db, `lease_token is not null or due_at <= '${now.toISOString()}'`)) === 0,
    );
    took.push(performance.now() - began);
  }
  print(
    `reconcile pass over ${fleet} (goal 2 s)`,
    `median ${seconds(quantile(took, 0.5))} s, worst ${seconds(quantile(took, 1))} s, ${((cpuMs(pid) / 1000 - before) / took.length).toFixed(2)} s of the server's CPU`,
  );
}

async function idle({ pid }: Product): Promise<void> {
  const before = cpuMs(pid) / 1000;
  await sleep(idleSeconds * 1000);
  const share = ((cpuMs(pid) / 1000 - before) / idleSeconds) * 100;
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  print(`idle, server process over ${idleSeconds} s (goal 10 %)`, `${share.toFixed(1)} % of a core`);
  print("memory of the server, with its fake runs (goal 300 MB)", `${rss.toFixed(0)} MB`);
}

interface Ending {
  readonly id: string;
  readonly subdomain: string;
  readonly secret: string;
  readonly expires_at: Date;
}

/** Ends half of them over a minute, with a request through the gateway one second before and after each end. */
async function expire(product: Product, db: Db): Promise<void> {
  const { rows } = await sql<Ending>`
    update environments e set expires_at = now() + interval '10 seconds' + n * interval '1 second' * ${spreadSeconds / expiring},
      due_at = now() + interval '10 seconds' + n * interval '1 second' * ${spreadSeconds / expiring}
    from (select id, row_number() over (order by id) as n
      from (select id from environments order by id limit ${expiring} for update) locked) ending where ending.id = e.id
    returning e.id, e.subdomain, e.secret, e.expires_at`.execute(db);
  const answers = await Promise.all(
    rows.map(async (row) => [await requestAt(product, row, -1000), await requestAt(product, row, 1000)] as const),
  );
  await until("all to be gone", async () => (await counted(db, "status = 'terminated'")) === expiring, 60_000);
  const ended = await sql<{ late: number }>`
    select extract(epoch from terminated_at - expires_at)::float8 as late from environments where status = 'terminated'`.execute(
    db,
  );
  const late = ended.rows.map((row) => row.late);
  // Ignores replies that arrived after the end.
  const early = answers.filter(([before]) => before.leftMs > 0 && before.status !== 200).length;
  const open = answers.filter(([, after]) => after.status === 200).length;
  print(
    `${expiring} ending within ${spreadSeconds} s: gateway`,
    `${early} refused at T-1 s, ${open} let in at T+1 s (goal 0, 0)`,
  );
  print(
    "gone after T (goal p99 5 s, none before)",
    `p50 ${quantile(late, 0.5).toFixed(2)} s, p99 ${quantile(late, 0.99).toFixed(2)} s, worst ${quantile(late, 1).toFixed(2)} s, ${late.filter((each) => each < 0).length} before`,
  );
}

const agent = new Agent({ keepAlive: false });

interface GatewayReply {
  /** 0 without a reply. */
  readonly status: number;
  /** Time to the end when the reply arrived. */
  readonly leftMs: number;
}

/** Requests the environment `afterMs` after its end. */
async function requestAt(
  { port }: Product,
  { subdomain, secret, expires_at }: Ending,
  afterMs: number,
): Promise<GatewayReply> {
  await sleep(Math.max(0, expires_at.getTime() + afterMs - Date.now()));
  const { promise, resolve } = Promise.withResolvers<GatewayReply>();
  const reply = (status: number) => resolve({ status, leftMs: expires_at.getTime() - Date.now() });
  const headers = { host: `${subdomain}.localhost:${port}`, authorization: `token ${secret}` };
  request({ host: "127.0.0.1", port, path: "/api", headers, agent }, (response) => {
    response.resume();
    reply(response.statusCode ?? 0);
  })
    .on("error", () => reply(0))
    .end();
  return await promise;
}

const seconds = (ms: number) => (ms / 1000).toFixed(2);

function print(what: string, figure: string): void {
  console.log(`${what.padEnd(58)} ${figure}`);
}
