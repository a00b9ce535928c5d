import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { defaultCatalogue } from "@berth/contract";
import type { Db } from "../server/src/database/database.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { announceByBell } from "../server/src/notifications/notifications.ts";
import { brokenInvariants } from "../server/src/payments/ledger/invariants.ts";
import type { ProviderPayment } from "../server/src/payments/provider/provider.ts";
import { razorpay } from "../server/src/payments/provider/razorpay.ts";
import { settlePayment } from "../server/src/payments/settlement/settle-payment.ts";
import {
  type Answer,
  type Customer,
  create,
  orderBody,
  type Paid,
  pay,
  send,
  signUp,
  until,
} from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import { openProductDatabase } from "../testing/seed.ts";
import type { Figure } from "./figure.ts";
import { openProduct } from "./processes.ts";

const buyers = 300;
const gpus = 104;
const reporters = 64;
/** Concurrent payers, each with one order after the other. */
const payers = 8;

interface Order {
  readonly customer: Customer;
  readonly request: Paid["container_request"];
  readonly order: { readonly id: string; readonly key_id: string };
}

/** 300 concurrent orders for 104 GPUs, then 64 concurrent reports of one payment, then payments of all other orders. */
export async function measure(): Promise<readonly Figure[]> {
  const env = { RUNTIME: "fake", FAKE_DRIVER: `gpus=${gpus},startMs=50`, SIGN_INS_PER_MINUTE: "1000000" };
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack, env);
  const { db, close } = await openProductDatabase(product);
  stack.defer(close);
  const customers = await signUpAll(product.url);
  const { took, orders } = await orderAll(product, customers);
  await reportOne(product, db, orders.slice(0, 1));
  const settled = await payAll(product, db, orders.slice(1));
  await until("every environment to be active", async () => {
    const active = await db.selectFrom("environments").select("id").where("status", "=", "active").execute();
    return active.length === gpus;
  });
  assert.deepEqual(await brokenInvariants(db), []);
  return [
    {
      name: "orders, 300 at once for 104 GPUs",
      unit: "ms",
      samples: took,
    },
    { name: "orders, settling a payment, 8 payers", unit: "ms", samples: settled },
  ];
}

/** Three at a time, because hashing passwords is slow. */
async function signUpAll(url: string): Promise<readonly Customer[]> {
  const made: Customer[] = [];
  const next = async () => {
    while (made.length < buyers) made.push(await signUp(url));
  };
  await Promise.all([next(), next(), next()]);
  return made.slice(0, buyers);
}

async function orderAll({ url }: Product, customers: readonly Customer[]) {
  const bodies = customers.map((customer, index) => orderBody(customer, { subdomain: `race-${index}`, gpuCount: 1 }));
  const answers = await Promise.all(
    customers.map(({ idToken: token }, index) =>
      timed(() => send(url, "POST", "/docker/payments/create_order", { token, body: bodies[index] })),
    ),
  );
  const accepted = answers.filter(({ answer }) => answer.status === 200);
  const refused = answers.filter(({ answer }) => answer.status === 409 && answer.body.code === "out_of_stock");
  assert.deepEqual([accepted.length, refused.length], [gpus, buyers - gpus], "one accepted order per GPU");
  for (const { answer } of refused)
    assert.match(answer.body.message, /The next 1 GPU is expected to be free at \d{4}-/);
  const orders = customers.flatMap((customer, index): Order[] => {
    const { status, body } = answers[index]?.answer ?? { status: 0, body: undefined };
    const request = bodies[index]?.container_request;
    return status === 200 && request ? [{ customer, request, order: body }] : [];
  });
  return { orders, took: answers.map(({ tookMs }) => tookMs) };
}

/** Reports one payment concurrently by the create call, the webhook and this process. */
async function reportOne({ url }: Product, db: Db, orders: readonly Order[]): Promise<void> {
  const account = await db.selectFrom("embedded_gateway_account").selectAll().executeTakeFirstOrThrow();
  const settler = await openSettler(db, url);
  for (const { customer, request, order: opened } of orders) {
    const paid = { container_request: request, payment_data: await pay(url, opened) };
    const { razorpay_order_id: orderId, razorpay_payment_id: paymentId } = paid.payment_data;
    const payment = await settler.payment(paymentId);
    const body = JSON.stringify({ event: "payment.captured", payload: { payment: { entity: { id: paymentId } } } });
    const signature = createHmac("sha256", account.webhook_secret ?? "")
      .update(body)
      .digest("hex");
    const reports = [
      () => settler.settle(payment),
      async () => assert.equal((await create(url, customer, paid)).status, 200),
      async (index: number) => assert.equal(await sendWebhook(url, { body, signature, id: `observer-${index}` }), 200),
    ];
    await Promise.all(Array.from({ length: reporters }, (_, index) => reports[index % reports.length]?.(index)));
    await until("the webhooks to be processed", async () => {
      const left = db.selectFrom("gateway_events").select("event_id").where("processed_at", "is", null);
      return (await left.execute()).length === 0;
    });
    const order = await db.selectFrom("orders").selectAll().where("gateway_order_id", "=", orderId).executeTakeFirst();
    const counts = await Promise.all([
      db
        .selectFrom("environments")
        .select("id")
        .where("order_id", "=", order?.id ?? "")
        .execute(),
      db
        .selectFrom("payments")
        .select("id")
        .where("order_id", "=", order?.id ?? "")
        .execute(),
      db
        .selectFrom("journal_lines")
        .select("entry_id")
        .where("order_id", "=", order?.id ?? "")
        .execute(),
    ]);
    // One journal entry has two lines.
    const [environments = 0, payments = 0, lines = 0] = counts.map(({ length }) => length);
    assert.deepEqual([environments, payments, lines], [1, 1, 2]);
  }
}

/** The webhook and this process race to settle; only payments settled here are timed. */
async function payAll({ url }: Product, db: Db, orders: readonly Order[]): Promise<readonly number[]> {
  const settler = await openSettler(db, url);
  const settled: number[] = [];
  const left = [...orders];
  const payer = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const { customer, request: container_request, order } = next;
      const payment_data = await pay(url, order);
      const payment = await settler.payment(payment_data.razorpay_payment_id);
      const began = performance.now();
      const outcome = await settler.settle(payment);
      if (outcome === "settled") settled.push(performance.now() - began);
      const { status } = await create(url, customer, { container_request, payment_data });
      assert.equal(status, 200);
    }
  };
  await Promise.all(Array.from({ length: payers }, payer));
  return settled;
}

/** Settles payments like the server, in this process. */
async function openSettler(db: Db, url: string) {
  const account = await db.selectFrom("embedded_gateway_account").selectAll().executeTakeFirstOrThrow();
  const provider = razorpay({
    ...{ keyId: account.key_id, keySecret: account.key_secret, kind: "embedded", mode: "embedded" },
    baseUrl: `${url}/embedded-gateway/v1`,
    minimumMinor: { USD: 1, INR: 1 },
    timeoutMs: 60_000,
  });
  const deps = {
    ...{ db, log: silentLogger, giveUpAfterSeconds: 600, announce: announceByBell },
    catalogue: defaultCatalogue,
  };
  return {
    payment: provider.payment,
    settle: (payment: ProviderPayment) => settlePayment({ ...deps, provider }, payment),
  };
}

async function sendWebhook(url: string, webhook: { body: string; signature: string; id: string }): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "x-razorpay-signature": webhook.signature,
    "x-razorpay-event-id": webhook.id,
  };
  return (await fetch(`${url}/webhooks/razorpay`, { method: "POST", headers, body: webhook.body })).status;
}

async function timed(ask: () => Promise<Answer>) {
  const began = performance.now();
  const answer = await ask();
  return { tookMs: performance.now() - began, answer };
}
