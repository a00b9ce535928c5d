import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../server/src/database/database.ts";
import { scrape } from "../server/src/metrics/testing/scrape.ts";
import { freePort } from "../server/src/testing/free-port.ts";
import { type Customer, create, orderBody, type Paid, pay, send, signUp, until } from "../testing/customer.ts";
import { removeFolder, startProduct } from "../testing/product.ts";
import { openProductDatabase } from "../testing/seed.ts";
import type { Figure } from "./figure.ts";

/** Orders whose polls are due at once, half of them unpaid. */
const due = 2000;
/** Calls a second that the provider answers. */
const perSecond = 5;
const buyers = 24;
const everyMs = 5000;
const seconds = 180;

interface Bought {
  readonly hasBrowser: boolean;
  readonly orderMs?: number;
  readonly settleMs?: number;
  readonly refusals: readonly number[];
}

/**
 * New orders while the polls of 2,000 others are due at a provider that answers 5 calls a second and loses all webhooks. Every
 * second buyer's browser dies after the payment, so that only a poll finds it. `npm run bench -- provider-limit [PROGRAM]`:
 * the main.ts of another checkout.
 */
export async function measure([program]: readonly string[]): Promise<readonly Figure[]> {
  const metricsPort = await freePort();
  const env = {
    RUNTIME: "fake",
    FAKE_DRIVER: "gpus=104,startMs=50",
    METRICS_PORT: String(metricsPort),
    SIGN_INS_PER_MINUTE: "1000000",
  };
  const product = await startProduct({ env, ...(program && { program }) });
  const { db, close } = await openProductDatabase(product);
  try {
    const customers: Customer[] = [];
    for (let n = 0; n < buyers; n++) customers.push(await signUp(product.url));
    await seedDue(db);
    await setFaults(db, product.url);
    const before = await callsOf(metricsPort);
    const began = performance.now();
    const bought = Promise.all(customers.map((customer, n) => buy(db, product.url, customer, n)));
    await sleep(seconds * 1000);
    const calls = await callsOf(metricsPort);
    const minutes = (performance.now() - began) / 60_000;
    const failed = product.output().split("order.check_failed").length - 1;
    const { rows } = await sql<{ left: number }>`
      select count(*)::int as left from orders where user_id like 'seed-%' and due_at <= now() and attempts = 0`.execute(
      db,
    );
    return figuresOf(await bought, { before, calls, minutes, failed, waiting: rows[0]?.left ?? 0 });
  } finally {
    await close();
    await product.stop();
    removeFolder(product.dataDir);
  }
}

async function seedDue(db: Db): Promise<void> {
  await sql`insert into embedded_gateway_orders (id, receipt, amount_minor, currency, capture)
    select 'order_seed' || n, 'seed-' || n, 20, 'USD', 'automatic' from generate_series(1, ${due}) n`.execute(db);
  await sql`insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
      currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, created_at, paid_at, hold_until, watch_until, due_at)
    select 'seed-' || n, 'seed-' || n, case when n % 2 = 0 then 'open' else 'fulfilled' end, 'jupyter', 'seed-' || n, 1, 1, 20, 20,
      'USD', 8822, 'embedded', 'embedded', 'order_seed' || n, '', now() - interval '5 minutes',
      case when n % 2 = 1 then now() - interval '4 minutes' end, now() + interval '10 minutes', now() + interval '4 days', now()
    from generate_series(1, ${due}) n`.execute(db);
}

async function setFaults(db: Db, url: string): Promise<void> {
  const { key_id, key_secret } = await db.selectFrom("embedded_gateway_account").selectAll().executeTakeFirstOrThrow();
  const response = await fetch(`${url}/embedded-gateway/v1/test/faults`, {
    method: "PUT",
    headers: {
      authorization: `Basic ${Buffer.from(`${key_id}:${key_secret}`).toString("base64")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ perSecond, lost: 1 }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Orders, again after each refusal, pays, and waits for the settlement. */
async function buy(db: Db, url: string, customer: Customer, n: number): Promise<Bought> {
  await sleep(n * everyMs);
  const hasBrowser = n % 2 === 0;
  const body = orderBody(customer, { subdomain: `limit-${n}`, gpuCount: 1 });
  const refusals: number[] = [];
  const began = performance.now();
  const order = await until(
    "an order",
    async () => {
      const reply = await send(url, "POST", "/docker/payments/create_order", { token: customer.idToken, body });
      if (reply.status === 200) return reply.body as { id: string; key_id: string };
      refusals.push(reply.status);
      await sleep(1000);
      return undefined;
    },
    300_000,
  );
  const orderMs = performance.now() - began;
  const paid: Paid = { container_request: body.container_request, payment_data: await pay(url, order) };
  const paidAt = performance.now();
  if (hasBrowser)
    void until(
      "a reply",
      async () => {
        const { status } = await create(url, customer, paid);
        if (status !== 200) refusals.push(status);
        return status === 200;
      },
      300_000,
    ).catch(() => undefined);
  const isSettled = async () => {
    const row = db.selectFrom("orders").select("paid_at").where("gateway_order_id", "=", order.id);
    return (await row.executeTakeFirst())?.paid_at !== null;
  };
  const isFound = await until("a settlement", isSettled, 120_000).catch(() => false);
  return { hasBrowser, orderMs, refusals, ...(isFound && { settleMs: performance.now() - paidAt }) };
}

async function callsOf(port: number): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const [name, value] of await scrape(`http://127.0.0.1:${port}`)) {
    const result = /^berth_provider_calls_total\{.*result="(\w+)"/.exec(name)?.[1];
    if (result) sums.set(result, (sums.get(result) ?? 0) + value);
  }
  return sums;
}

interface Counts {
  readonly before: ReadonlyMap<string, number>;
  readonly calls: ReadonlyMap<string, number>;
  readonly minutes: number;
  readonly failed: number;
  /** Polls that have not been made yet. */
  readonly waiting: number;
}

function figuresOf(bought: readonly Bought[], { before, calls, minutes, failed, waiting }: Counts): Figure[] {
  const made = (result: string) => (calls.get(result) ?? 0) - (before.get(result) ?? 0);
  const limited = made("limited") + made("unavailable");
  const refused = bought.flatMap(({ refusals }) => refusals).filter((status) => status === 503);
  const settled = (hasBrowser: boolean) =>
    bought.flatMap((each) => (each.hasBrowser === hasBrowser && each.settleMs !== undefined ? [each.settleMs] : []));
  const figures: readonly (readonly [string, Figure["unit"], readonly number[]])[] = [
    ["an order to its reply", "ms", bought.flatMap(({ orderMs = Number.NaN }) => orderMs)],
    ["paid to settled, browser", "ms", settled(true)],
    ["paid to settled, poll only", "ms", settled(false)],
    ["not settled", "", [bought.filter(({ settleMs }) => settleMs === undefined).length]],
    ["calls a minute", "", [(made("ok") + made("refused") + limited) / minutes]],
    ["429 a minute", "", [limited / minutes]],
    ["polls that wait", "", [waiting]],
    ["503 that buyers saw", "", [refused.length]],
    ["order.check_failed in the log", "", [failed]],
  ];
  return figures.map(([name, unit, samples]) => ({ name: `provider limit: ${name}`, unit, samples }));
}
