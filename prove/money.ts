import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Db, openDatabase } from "../server/src/database/database.ts";
import { embeddedConnection } from "../server/src/database/embedded/embedded.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { announceByBell } from "../server/src/notifications/notifications.ts";
import { brokenInvariants } from "../server/src/payments/ledger/invariants.ts";
import { grantRefund } from "../server/src/payments/refunds/grant-refund.ts";
import { tracesInDatabase, tracesInLog } from "../server/src/payments/testing/card-traces.ts";
import { seeded } from "../server/src/testing/random.ts";
import { card, must, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { type Bought, orderInLoop, type PaidBack, type Shop } from "./money/money-customers.ts";
import { outcomesOfPayments } from "./money/outcomes-of-payments.ts";
import { writeProof } from "./proof-page.ts";

interface Options {
  readonly seed: number;
  readonly minutes: number;
}

const customers = 24;
const killEveryMs = 6500;
/** Faults injected at the provider. */
const faults = { serverError: 0.04, drop: 0.06, hang: 0.002, tooMany: 0.01, lost: 0.25, tripled: 0.3, delayed: 0.2 };
const env = {
  RUNTIME: "fake",
  FAKE_DRIVER: "startMs=100,stopMs=20,fail=0.35,silent=0.1",
  SLOTS: "64",
  GIVE_UP_AFTER: "15",
  GPUS_PER_USER: "64",
  LAUNCHES_PER_USER: "1000",
  LOG_LEVEL: "debug",
};

interface MoneyFixture {
  product: Product;
  readonly dataDir: string;
  /** Output of all servers of this run. */
  readonly log: string;
  readonly db: Db;
  kills: number;
  databaseKills: number;
}

/**
 * Customers leave, pay late and pay twice; the provider fails, and loses, triples and delays webhooks; the server and its
 * database are killed every few seconds. At the end the provider's books are compared with ours (P1).
 */
export async function proveMoney({ seed, minutes }: Options): Promise<void> {
  const dataDir = temporaryFolder();
  const log = join(dataDir, "server.log");
  const product = await startProduct({ dataDir, env, log });
  const database = await openDatabase(embeddedConnection(join(dataDir, "database")), silentLogger);
  const fixture: MoneyFixture = { product, dataDir, log, db: database.db, kills: 0, databaseKills: 0 };
  const random = seeded(seed);
  const closesAt = Date.now() + minutes * 60_000;
  const shop: Shop = {
    url: product.url,
    random,
    seed,
    isOpen: () => Date.now() < closesAt,
    payAgain: async (orderId) =>
      void (await callProvider(fixture, "POST", "/test/payments", { order_id: orderId, status: "captured" })),
    payBack: (how, bought) => payBack(fixture, how, bought),
    counts: { orders: 0, left: 0, late: 0, twice: 0, extended: 0 },
  };
  try {
    await setFaults(fixture, faults);
    await Promise.all([
      attack(fixture, shop),
      ...Array.from({ length: customers }, (_, number) => orderInLoop(shop, number)),
    ]);
    await setFaults(fixture, {});
    await settled(fixture);
    const text = await report(fixture, shop, { seed, minutes });
    console.log(text);
    writeProof("money", text);
  } finally {
    await database.close().catch(() => {});
    await fixture.product.stop();
    removeFolder(dataDir);
  }
}

async function attack(fixture: MoneyFixture, { random, isOpen }: Shop): Promise<void> {
  while (isOpen()) {
    await sleep(killEveryMs * (0.5 + random()));
    if (!isOpen()) return;
    if (fixture.kills % 7 === 6) killDatabase(fixture);
    await fixture.product.kill();
    fixture.kills++;
    fixture.product = await startProduct({
      dataDir: fixture.dataDir,
      port: fixture.product.port,
      env,
      log: fixture.log,
    });
    await setFaults(fixture, faults);
  }
}

function killDatabase(fixture: MoneyFixture): void {
  const file = join(fixture.dataDir, "database", "cluster", "postmaster.pid");
  process.kill(Number(readFileSync(file, "utf8").split("\n")[0]), "SIGKILL");
  fixture.databaseKills++;
}

async function setFaults(fixture: MoneyFixture, chosen: object): Promise<void> {
  await until("the provider to accept its faults", () =>
    callProvider(fixture, "PUT", "/test/faults", chosen).then(
      () => true,
      () => false,
    ),
  );
}

/** Calls the provider with the merchant's keys. */
async function callProvider(
  { db, product }: MoneyFixture,
  method: string,
  path: string,
  body: object,
): Promise<{ readonly id: string }> {
  const account = await db.selectFrom("embedded_gateway_account").selectAll().executeTakeFirstOrThrow();
  const authorization = `Basic ${Buffer.from(`${account.key_id}:${account.key_secret}`).toString("base64")}`;
  const answer = await fetch(`http://127.0.0.1:${product.port}/embedded-gateway/v1${path}`, {
    method,
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json().catch(() => ({ id: "" }))) as { id: string };
}

async function payBack(fixture: MoneyFixture, how: PaidBack, { orderId, paymentId }: Bought): Promise<void> {
  if (how === "dashboard") return void (await callProvider(fixture, "POST", `/payments/${paymentId}/refund`, {}));
  if (how === "bank") {
    const { id } = await callProvider(fixture, "POST", "/test/disputes", { payment_id: paymentId });
    return void (await callProvider(fixture, "POST", `/test/disputes/${id}`, { status: "lost" }));
  }
  const share = how === "operator" ? "full" : "prorated";
  await grantRefund(
    {
      db: fixture.db,
      announce: announceByBell,
      author: { actor: "cli:prove", reason: "" },
      orderId,
      message: "",
      again: true,
    },
    share,
  );
}

/** Makes every poll due until nothing is under way. */
async function settled(fixture: MoneyFixture): Promise<void> {
  // Lost dispute webhooks are polled for at the start, then once an hour.
  await fixture.product.kill();
  fixture.product = await startProduct({ dataDir: fixture.dataDir, port: fixture.product.port, env, log: fixture.log });
  const { db, product } = fixture;
  await until(
    "every order and refund to end",
    async () => {
      await sql`update orders set due_at = now() where lease_token is null and due_at > now()
        and exists (select 1 from embedded_gateway_payments g where g.order_id = gateway_order_id and g.status = 'captured'
          and not exists (select 1 from payments p where p.gateway_payment_id = g.id and p.status = 'captured' and p.refund_minor >= g.refunded_minor))`.execute(
        db,
      );
      await sleep(500);
      const { rows } = await sql<{ left: number }>`select
        (select count(*) from orders where status in ('paid', 'refunding')) +
        (select count(*) from refunds where status not in ('processed', 'waived')) +
        (select count(*) from environments where desired = 'terminated' and status <> 'terminated') +
        (select count(*) from embedded_gateway_disputes g where not exists (
          select 1 from disputes d where d.gateway_dispute_id = g.id and d.status = g.status)) +
        (select count(*) from embedded_gateway_payments g where g.status = 'captured'
          and not exists (select 1 from payments p where p.gateway_payment_id = g.id and p.status = 'captured' and p.refund_minor >= g.refunded_minor)) as left`.execute(
        db,
      );
      return rows[0]?.left === 0;
    },
    240_000,
  );
  await must(product.url, "GET", "/readyz");
}

/** Compares the outcome of every captured payment in the provider's books and ours. */
async function report(
  { db, kills, databaseKills, log }: MoneyFixture,
  { counts: seen }: Shop,
  { seed, minutes }: Options,
): Promise<string> {
  const totals = await outcomesOfPayments(db);
  assert.ok(totals);
  const broken = await brokenInvariants(db);
  const counts = `${totals.paid} paid orders: ${totals.delivered} delivered, ${totals.refunded} refunded in full, ${totals.decided} paid back after delivery (dashboard, operator, bank); ${totals.duplicate} duplicate payments refunded. ${totals.both} both, ${totals.neither} neither, ${broken.length} broken invariants.`;
  assert.deepEqual([totals.both, totals.neither, broken], [0, 0, []], counts);
  assert.equal(totals.delivered + totals.refunded + totals.decided, totals.paid, counts);
  const printed = readFileSync(log, "utf8");
  assert.match(printed, /ready at/);
  const traces = [...tracesInLog(printed, [card]), ...(await tracesInDatabase(db, [card]))];
  assert.deepEqual(traces.slice(0, 5), [], "card data was stored or logged");
  return `\`npm run prove -- money --seed ${seed} --minutes ${minutes}\`: ${kills} kills of the server (SIGKILL), ${databaseKills} of its database; ${customers} customers, ${seen.orders} orders, ${seen.left} left after paying, ${seen.late} paid after dismissing, ${seen.twice} paid twice, ${seen.extended} extended. At the provider: 4 % answers 500, 6 % cut off after the work, 1 % 429, 0.2 % hang 15 s; 25 % of webhooks lost, 30 % tripled, 20 % delayed.

${counts} Nothing of the cards but network and last four digits in any column of any table, nor in ${Math.ceil(printed.length / 1000)} kB of log at debug.
`;
}
