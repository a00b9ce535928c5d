import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  finishAndDelete,
  inMs,
  type Leased,
  workQueue,
} from "../../database/work-queue.ts";
import { type Logger, logError } from "../../logging/create-logger.ts";
import { orderEntity, type PaymentRow, paymentEntity } from "./entities.ts";
import { type Faults, happens } from "./faults.ts";
import { lateMs, outcomeOf, reorderedMs } from "./outcomes.ts";
import { unanswered } from "./test-methods.ts";

type Entity = Readonly<Record<string, unknown>>;

interface Event {
  readonly event: string;
  /** By name, such as `payment` and `order`. */
  readonly entities: Readonly<Record<string, Entity>>;
  /** Earliest time of sending. */
  readonly notBefore?: Date;
}

/** Queues a webhook, in the transaction of the event. */
export async function queueWebhook(tx: Tx, { event, entities, notBefore = new Date() }: Event): Promise<void> {
  const outcome = await outcomeOf(tx, String(entities["payment"]?.["order_id"]));
  if (outcome === "webhook_lost") return;
  const lateBy = outcome === "webhook_delayed" ? lateMs : outcome === "webhook_reordered" ? reorderMs(event) : 0;
  const body = JSON.stringify({
    entity: "event",
    account_id: "acc_embedded",
    event,
    contains: Object.keys(entities),
    payload: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }])),
    created_at: Math.floor(Date.now() / 1000),
  });
  const row = {
    id: `event_${randomBytes(9).toString("hex")}`,
    body,
    times: outcome === "webhook_tripled" ? 3 : 1,
    ...((lateBy > 0 || notBefore > new Date()) && { due_at: new Date(notBefore.getTime() + lateBy) }),
  };
  await tx.insertInto("embedded_gateway_webhooks").values(row).execute();
}

/** Delays the first event, so that it arrives last. */
function reorderMs(event: string): number {
  return event.startsWith("payment.") || event === "refund.created" ? reorderedMs : 0;
}

interface Receiver {
  readonly db: Db;
  readonly url: string;
  readonly secret: string;
  readonly faults: Faults;
  readonly log: Logger;
}

const intervalMs = 1000;
const timeoutMs = 5000;
const longestDelayMs = 10_000;
/** As at Razorpay: retried for a day, then dropped. */
const giveUpHours = 24;
const backoff = { firstMs: 2000, longestMs: 3_600_000 };

type Waiting = Leased<RowOf<"embedded_gateway_webhooks">>;

/** The lease outlasts the longest delay and three posts that time out. */
const queue = workQueue("embedded_gateway_webhooks", ["id"], 30);

/** Sends queued webhooks, signed, at least once and in no guaranteed order. */
export function startWebhookSender(receiver: Receiver): Loop {
  const { db, log } = receiver;
  return startInterval({
    name: "embedded-webhooks",
    work: async () => {
      await answerLate(db);
      const rows = await fetchDue(db, queue, { where: sql`true`, limit: 10, set: { attempts: sql`attempts + 1` } });
      // Not awaited, so that a delayed webhook does not block others.
      for (const row of rows) void send(receiver, row).catch(logError(log, "webhook.failed"));
      await sql`delete from embedded_gateway_webhooks where created_at < now() - make_interval(hours => ${giveUpHours})`.execute(
        db,
      );
      return rows.length > 0 ? 0 : intervalMs;
    },
    intervalMs,
    log,
  });
}

/**
 * What happens after the dialog: a failed payment is authorized late, one that waits for an approval in the UPI app is
 * approved, or fails because nobody answered.
 */
async function answerLate(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const due = tx
      .selectFrom("embedded_gateway_payments")
      .selectAll()
      .where((is) => is.or([is("authorizes_at", "<=", sql<Date>`now()`), is("expires_at", "<=", sql<Date>`now()`)]))
      .forUpdate()
      .skipLocked();
    for (const row of await due.execute()) await answer(tx, row);
  });
}

async function answer(tx: Tx, before: PaymentRow): Promise<void> {
  const isApproved = before.expires_at === null;
  const { capture } = await tx
    .selectFrom("embedded_gateway_orders")
    .select("capture")
    .where("id", "=", before.order_id)
    .executeTakeFirstOrThrow();
  // One that failed first is only authorized: the merchant decides whether it still wants it.
  const captured = isApproved && before.status === "created" && capture === "automatic";
  const row = await tx
    .updateTable("embedded_gateway_payments")
    .set({
      ...{
        status: isApproved ? (captured ? "captured" : "authorized") : "failed",
        authorizes_at: null,
        expires_at: null,
      },
      error_reason: isApproved ? null : unanswered.reason,
      error_description: isApproved ? null : unanswered.description,
    })
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const payment = paymentEntity(row);
  await queueWebhook(tx, { event: `payment.${row.status}`, entities: { payment } });
  if (!captured) return;
  const paid = tx.updateTable("embedded_gateway_orders").set({ status: "paid" }).where("id", "=", row.order_id);
  const order = orderEntity(await paid.returningAll().executeTakeFirstOrThrow());
  await queueWebhook(tx, { event: "order.paid", entities: { payment, order } });
}

async function send(receiver: Receiver, row: Waiting): Promise<void> {
  const { db, faults } = receiver;
  const { lost, tripled, delayed } = faults;
  if (happens(delayed)) await sleep(Math.random() * longestDelayMs);
  let isOver = happens(lost);
  if (!isOver)
    for (let times = happens(tripled) ? 3 : row.times; times > 0; times--)
      isOver = (await post(receiver, row)) || isOver;
  if (isOver) await finishAndDelete(db, queue, row);
  else await finish(db, queue, row, { due_at: inMs(backoffMs(row.attempts, backoff)) });
}

/** Returns whether the merchant accepted it. */
async function post(receiver: Receiver, { id, body }: Waiting): Promise<boolean> {
  const { url, secret, log } = receiver;
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-razorpay-signature": signature, "x-razorpay-event-id": id };
  try {
    const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`the webhook ${id} was answered with ${answer.status}`);
    return true;
  } catch (err) {
    log.warn({ event: "webhook.failed", webhookId: id, err });
    return false;
  }
}
