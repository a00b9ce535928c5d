import assert from "node:assert/strict";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { monthsOf, readBilling } from "../server/src/billing/read-billing.ts";
import { buildStatement } from "../server/src/billing/statement.ts";
import { type Db, openDatabase } from "../server/src/database/database.ts";
import { startEmbedded } from "../server/src/database/embedded/embedded.ts";
import { commandLogger } from "../server/src/logging/create-logger.ts";
import { fetchOrders, nextOrderMs } from "../server/src/payments/orders/order-poller.ts";
import { type Customer, must, signUp } from "../testing/customer.ts";
import { removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { seedAccounts, seedDue, tune } from "./billing-seed.ts";
import type { Figure } from "./figure.ts";

const env = { RUNTIME: "fake", LOG_LEVEL: "error", REQUESTS_PER_MINUTE: "100000", ANONYMOUS_PER_MINUTE: "100000" };
/** Orders of the three measured accounts; all others have about fifty. */
const sizes = [60, 5000, 50_000] as const;
const reads = 100;
const warming = 200;

/**
 * `npm run bench -- billing [--orders N]`: the billing page of small and large accounts, and the order poller's fetch,
 * beside ten million orders of 200,000 users (docs/internals/money.md), in a temporary database.
 */
export async function measure(args: readonly string[]): Promise<readonly Figure[]> {
  const { values } = parseArgs({ args: [...args], options: { orders: { type: "string", default: "10000000" } } });
  const orders = Number(values.orders);
  const dataDir = temporaryFolder();
  try {
    const { accounts, port } = await signUpAll(dataDir);
    await inDatabase(dataDir, tune);
    const figures: Figure[] = [];
    await inDatabase(dataDir, async (db) => {
      await seedAccounts(db, { orders, users: Math.min(200_000, orders / 50), accounts: accounts.map(sizeOf) });
      for (const [index, { userId }] of accounts.entries()) figures.push(await readOne(db, userId, sizes[index] ?? 0));
      figures.push(...(await fetchDue(db)));
    });
    figures.push(...(await readPages(dataDir, port, accounts)));
    return figures.map((figure) => ({ ...figure, name: `${figure.name}, of ${orders.toLocaleString("en-US")}` }));
  } finally {
    removeFolder(dataDir);
  }
}

/** Returns the port too, because the tokens are valid for this address only. */
async function signUpAll(dataDir: string): Promise<{ accounts: readonly Customer[]; port: number }> {
  const product = await startProduct({ dataDir, env });
  try {
    const accounts = [await signUp(product.url), await signUp(product.url), await signUp(product.url)];
    return { accounts, port: product.port };
  } finally {
    await product.stop();
  }
}

function sizeOf({ userId }: Customer, index: number) {
  return { userId, orders: sizes[index] ?? 0 };
}

async function inDatabase(dataDir: string, work: (db: Db) => Promise<void>): Promise<void> {
  const embedded = await startEmbedded({
    directory: join(dataDir, "database"),
    fsync: false,
    superuser: true,
    log: commandLogger,
  });
  const database = await openDatabase(embedded.connection, commandLogger);
  try {
    await work(database.db);
  } finally {
    await database.close();
    await embedded.stop();
  }
}

/** Measures the queries of the page, and asserts that the first is an index-only scan. */
async function readOne(db: Db, userId: string, orders: number): Promise<Figure> {
  const page = await timed(async () => {
    const { paymentCount } = buildStatement(await readBilling(db, userId), new Date());
    assert.equal(paymentCount, orders);
  });
  const { sql: text, parameters } = monthsOf(userId).compile(db);
  const literal = parameters.reduce<string>(
    (done, value, index) => done.replaceAll(`$${index + 1}`, `'${value}'`),
    text,
  );
  const plan = await sql.raw<{ "QUERY PLAN": string }>(`explain (analyze, buffers) ${literal}`).execute(db);
  const lines = plan.rows.map((row) => row["QUERY PLAN"]);
  assert.ok(
    lines.some((each) => each.includes("Index Only Scan using orders_paid")),
    lines.join("\n"),
  );
  return { name: `billing, statement of ${orders} orders`, unit: "ms", samples: page };
}

async function fetchDue(db: Db): Promise<Figure[]> {
  const payments = { db, provider: { kind: "embedded", mode: "embedded" } } as Parameters<typeof fetchOrders>[0];
  await seedDue(db, (warming + reads) * 40);
  const due = sql`select id from orders where greatest(due_at, lease_expires_at) <= now() and status <> 'paid' and gateway = 'embedded'
    and mode = 'embedded' order by greatest(due_at, lease_expires_at) limit 20 for update skip locked`;
  const select = await timed(() => due.execute(db));
  const lease = await timed(() => fetchOrders(payments, "unpaid"));
  const next = await timed(() => nextOrderMs(payments));
  await sql`update orders set due_at = null, lease_token = null, lease_expires_at = null where lease_token is not null or due_at <= now()`.execute(
    db,
  );
  return [
    { name: "billing, lease of 20 due orders", unit: "ms", samples: lease, peer: select, beside: "their select" },
    { name: "billing, when the next order is due", unit: "ms", samples: next },
  ];
}

async function readPages(dataDir: string, port: number, accounts: readonly Customer[]): Promise<Figure[]> {
  const product = await startProduct({ dataDir, port, env });
  try {
    const peer = await timed(() => must(product.url, "GET", "/readyz"));
    const figures: Figure[] = [];
    for (const [index, { userId, idToken: token }] of accounts.entries()) {
      const samples = await timed(() => must(product.url, "GET", `/billing/${userId}`, { token }));
      figures.push({ name: `GET /billing, ${sizes[index]} orders`, unit: "ms", samples, peer, beside: "GET /readyz" });
    }
    return figures;
  } finally {
    await product.stop();
  }
}

/** Drops the first reads, which warm caches and the JIT compiler. */
async function timed(ask: () => Promise<unknown>): Promise<readonly number[]> {
  const took: number[] = [];
  for (let n = 0; n < warming + reads; n++) {
    const began = performance.now();
    await ask();
    took.push(performance.now() - began);
  }
  return took.slice(warming);
}
