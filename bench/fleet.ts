import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../server/src/database/database.ts";
import { until } from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import { counted, fleet, rentFleet } from "../testing/rent-fleet.ts";
import { openProductDatabase } from "../testing/seed.ts";
import { type Figure, timed } from "./figure.ts";
import { cpuMs, memoryMb, openProduct } from "./processes.ts";
import { quantile } from "./quantiles.ts";

const expiring = 500;
const idleSeconds = 15;
const spreadSeconds = 60;

const scrapes = 10;
/** More than the five seconds for which what the database knows is kept. */
const scrapePauseMs = 5_500;
/** As Prometheus asks by default. */
const usualMs = 15_000;

/** 1,000 environments: concurrent starts, a pass over all, scrapes, idle load, and 500 that end within a minute (P2). */
export async function measure(): Promise<readonly Figure[]> {
  const env = { RUNTIME: "fake", FAKE_DRIVER: `gpus=${fleet},startMs=50`, METRICS_PORT: "0" };
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack, env);
  const { db, close } = await openProductDatabase(product);
  stack.defer(close);
  const started = await timed(async () => {
    await rentFleet(db);
    await until("all to be active", async () => (await counted(db, "status = 'active'")) === fleet, 600_000);
  });
  return [
    { name: "fleet, 1,000 paid at once: all active", unit: "ms", samples: [started] },
    ...(await passes(product, db)),
    ...(await scraping(product)),
    ...(await idle(product)),
    ...(await expire(product, db)),
  ];
}

/** Makes every row due at once, as after an outage, and waits until all are reconciled. */
async function passes({ pid }: Product, db: Db): Promise<Figure[]> {
  const took: number[] = [];
  const spent: number[] = [];
  for (let round = 0; round < 6; round++) {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    const now = rows[0]?.now ?? new Date();
    const before = cpuMs(pid);
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
    spent.push(cpuMs(pid) - before);
  }
  return [
    { name: "fleet, pass over 1,000", unit: "ms", samples: took },
    { name: "fleet, CPU of a pass over 1,000", unit: "ms", samples: spent },
  ];
}

/** Scrapes of the metrics that read the database, beside `/healthz`. */
async function scraping({ pid, output }: Product): Promise<Figure[]> {
  const origin = /Health checks are at (\S+)\/healthz/.exec(output())?.[1] ?? "";
  await until("the server to be quiet", () => isQuiet(pid), 120_000);
  const ask = (path: string) => timed(async () => await (await fetch(`${origin}${path}`)).arrayBuffer());
  const [samples, peer, spent]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < scrapes; n++) {
    await sleep(scrapePauseMs);
    peer.push(await ask("/healthz"));
    const before = cpuMs(pid);
    samples.push(await ask("/metrics"));
    spent.push(cpuMs(pid) - before);
  }
  // A tick is 10 ms, as much as half a scrape.
  const mean = spent.reduce((sum, each) => sum + each, 0) / scrapes;
  const text = await (await fetch(`${origin}/metrics`)).text();
  const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  return [
    { name: "scrape of 1,000 environments", unit: "ms", samples, peer, beside: "/healthz" },
    { name: "scrape, CPU of the server", unit: "ms", samples: [mean] },
    { name: "scrape each 15 s, of a core", unit: "%", samples: [(mean / usualMs) * 100] },
    { name: "scrape, series", unit: "", samples: [series] },
    { name: "scrape, size", unit: "KiB", samples: [text.length / 1024] },
  ];
}

/** Less than a tenth of a core for a second. */
async function isQuiet(pid: number): Promise<boolean> {
  const before = cpuMs(pid);
  await sleep(1000);
  return cpuMs(pid) - before < 100;
}

async function idle({ pid }: Product): Promise<Figure[]> {
  const before = cpuMs(pid);
  await sleep(idleSeconds * 1000);
  const share = ((cpuMs(pid) - before) / (idleSeconds * 1000)) * 100;
  return [
    { name: "fleet, 1,000 idle: CPU of the server, of a core", unit: "%", samples: [share] },
    { name: "fleet, memory of the server with 1,000 fake runs", unit: "MB", samples: [memoryMb(pid)] },
  ];
}

interface Ending {
  readonly id: string;
  readonly subdomain: string;
  readonly secret: string;
  readonly expires_at: Date;
}

/** Ends half of them over a minute, with a request through the gateway one second before and after each end. */
async function expire(product: Product, db: Db): Promise<Figure[]> {
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
  return [
    { name: "fleet, 500 ending: refused a second before", unit: "", samples: [early] },
    { name: "fleet, 500 ending: let in a second after", unit: "", samples: [open] },
    { name: "fleet, 500 ending: gone before the end", unit: "", samples: [late.filter((each) => each < 0).length] },
    { name: "fleet, 500 ending: p99 until gone", unit: "ms", samples: [quantile(late, 0.99) * 1000] },
  ];
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
