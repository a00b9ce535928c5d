import { type Insertable, sql, type Updateable } from "kysely";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/ids.ts";
import type { Tables } from "../../database/tables.ts";
import { hold, releaseHold } from "../../environments/allocation/hold.ts";
import { launch } from "../../environments/allocation/launch.ts";
import { isAccountDeleted } from "../../environments/homes/home-records.ts";
import type { Announce } from "../../environments/reconciler/start-reconciler.ts";
import { extend } from "../../environments/time/extend.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { issueCreditNotes } from "../ledger/issue-credit-notes.ts";
import { issueReceipt } from "../ledger/issue-receipt.ts";
import { bookCapture, bookExternalRefund } from "../ledger/journal.ts";
import type { Seller } from "../ledger/tax.ts";
import { updateNetRevenue } from "../ledger/update-net-revenue.ts";
import type { OrderRow } from "../provider/payments-deps.ts";
import type { ProviderPayment } from "../provider/provider.ts";
import { refundPayment } from "../refunds/create-refund.ts";
import { remainingTimeText, takeBackHours } from "../refunds/take-back-hours.ts";
import { disputedMinor } from "../refunds/waive-refund.ts";
import { deliverMinutes, holdMinutes, minutesAfter } from "./deadlines.ts";

type Payment = RowOf<"payments">;
/** `now` is the database's clock, the only one that deadlines are written by. */
type LockedOrder = OrderRow & { readonly now: Date };

/** One payment as the provider has it now, from the create call, a poll or a dismissal. */
export interface Observation {
  readonly gateway: string;
  readonly payment: ProviderPayment;
  readonly giveUpAfterSeconds: number;
  readonly announce: Announce;
  /** With a GSTIN, what is sold is taxed. */
  readonly seller: Seller | undefined;
}

/** `noted`: nothing new about money. `settled`: this payment bought the environment. The others go back to the card. */
export type SettlementResult = "unknown_order" | "noted" | "settled" | "refunding" | "surplus";

const rank = { created: 0, failed: 1, authorized: 2, captured: 3 } as const;

/**
 * The one place where money becomes a fact (docs/internals/money.md): one transaction, however often and from however
 * many sides it is called, and never a word to the provider or a driver in it.
 */
export async function settlePayment(db: Db, observation: Observation): Promise<SettlementResult> {
  return db.transaction().execute(async (tx) => {
    const order = await lockOrder(tx, observation);
    if (!order) return "unknown_order";
    const before = await findPayment(tx, observation);
    if (before && before.order_id !== order.id) throw new Error(`payment ${before.id} belongs to another order`);
    const noted = await upsertPayment(tx, order, observation, before);
    if (noted.status === "captured") await bookCapture(tx, noted);
    const payment = await recordExternalRefund(tx, noted, observation);
    if (payment !== noted && payment.settles_order && payment.refund_minor === payment.amount_minor)
      await endPurchase(tx, order, observation.announce);
    if (payment.status !== "captured" || before?.status === "captured") return "noted";
    const outcome = await settleOrder(tx, order, payment, observation);
    await issueReceipt(tx, { order, payment, seller: outcome === "settled" ? observation.seller : undefined });
    await issueCreditNotes(tx, payment.id);
    return outcome;
  });
}

async function settleOrder(
  tx: Tx,
  order: LockedOrder,
  payment: Payment,
  observation: Observation,
): Promise<SettlementResult> {
  if (order.paid_at) {
    await refundPayment(tx, payment, "surplus_payment", observation.announce);
    return "surplus";
  }
  await tx.updateTable("payments").set({ settles_order: true }).where("id", "=", payment.id).execute();
  if (payment.refund_minor > 0) return refundInFull(tx, order, payment, "late_payment", observation);
  if (payment.amount_minor !== order.amount_minor || payment.currency !== order.currency)
    return refundInFull(tx, order, payment, "wrong_amount", observation);
  if (order.extends) return settleExtension(tx, order, order.extends, payment, observation);
  if (!(await launchEnvironment(tx, order, observation.giveUpAfterSeconds)))
    return refundInFull(tx, order, payment, "late_payment", observation);
  await closeOrder(tx, order, {
    status: "paid",
    deliver_by: minutesAfter(order.now, deliverMinutes),
    usd_net_minor: order.usd_minor,
    hours: order.duration_hours,
    closed_at: null,
  });
  return "settled";
}

/** Delivered in this very transaction, or the environment has ended meanwhile and the money goes back (G100). */
async function settleExtension(
  tx: Tx,
  order: LockedOrder,
  environmentId: string,
  payment: Payment,
  observation: Observation,
): Promise<SettlementResult> {
  const { id, user_id: userId, subdomain, usd_minor, duration_hours: hours, now } = order;
  if (!(await extend(tx, environmentId, hours))) return refundInFull(tx, order, payment, "late_payment", observation);
  await closeOrder(tx, order, { status: "fulfilled", usd_net_minor: usd_minor, hours, closed_at: now });
  await observation.announce(tx, {
    userId,
    cause: `extended:${id}`,
    title: `${subdomain} was extended`,
    body: `${hours} ${hours === 1 ? "hour was" : "hours were"} added. Nothing was restarted.`,
    link: `/billing/orders/${id}`,
  });
  return "settled";
}

/** Takes name and GPUs (again, for a late payment) and launches; false, and nothing taken, when they are another's or nobody waits any more. */
async function launchEnvironment(tx: Tx, order: LockedOrder, giveUpAfterSeconds: number): Promise<boolean> {
  const { id: orderId, user_id: userId, subdomain, gpu_count: gpuCount, now } = order;
  if (await isAccountDeleted(tx, userId)) return false;
  await sql`savepoint stock`.execute(tx);
  const held = await hold(tx, { orderId, userId, subdomain, gpuCount, holdUntil: minutesAfter(now, holdMinutes) });
  if (!held.ok) {
    await sql`rollback to savepoint stock`.execute(tx);
    return false;
  }
  await launch(tx, {
    orderId,
    userId,
    containerType: order.container_type,
    subdomain,
    gpuCount,
    durationHours: order.duration_hours,
    orderedAt: order.created_at,
    paidAt: now,
    giveUpAt: minutesAfter(now, giveUpAfterSeconds / 60),
  });
  return true;
}

/** Money that buys nothing: the hold is freed and the rest of the payment owed back. */
async function refundInFull(
  tx: Tx,
  order: LockedOrder,
  payment: Payment,
  reason: "late_payment" | "wrong_amount",
  { announce }: Observation,
): Promise<SettlementResult> {
  await releaseHold(tx, order.id);
  const alreadyBack = payment.refund_minor === payment.amount_minor;
  await refundPayment(tx, payment, reason, announce);
  await closeOrder(tx, order, {
    status: alreadyBack ? "refunded" : "refunding",
    closed_at: alreadyBack ? order.now : null,
  });
  return "refunding";
}

/** The claim is dropped with it: a poll that is under way writes nothing over this. */
async function closeOrder(tx: Tx, order: LockedOrder, change: Updateable<Tables["orders"]>): Promise<void> {
  await tx
    .updateTable("orders")
    .set({
      ...change,
      paid_at: order.now,
      next_check_at: minutesAfter(order.now, 1),
      claim: null,
      attempts: 0,
      last_error: null,
    })
    .where("id", "=", order.id)
    .execute();
}

async function lockOrder(tx: Tx, { gateway, payment }: Observation): Promise<LockedOrder | undefined> {
  return tx
    .selectFrom("orders")
    .selectAll()
    .select(sql<Date>`now()`.as("now"))
    .where("gateway", "=", gateway)
    .where("gateway_order_id", "=", payment.orderId)
    .forUpdate()
    .executeTakeFirst();
}

function findPayment(tx: Tx, { gateway, payment }: Observation): Promise<Payment | undefined> {
  return tx
    .selectFrom("payments")
    .selectAll()
    .where("gateway", "=", gateway)
    .where("gateway_payment_id", "=", payment.id)
    .executeTakeFirst();
}

/** Forward only: what arrives late and says less changes nothing. */
async function upsertPayment(
  tx: Tx,
  order: LockedOrder,
  { gateway, payment }: Observation,
  before: Payment | undefined,
): Promise<Payment> {
  if (before && rank[payment.status] <= before.rank) return before;
  const seen = {
    status: payment.status,
    method: payment.method,
    card_network: payment.cardNetwork,
    card_last4: payment.cardLast4,
    fee_minor: payment.feeMinor,
    error_code: payment.errorCode,
    error_reason: payment.errorReason,
    captured_at: payment.status === "captured" ? order.now : null,
  };
  if (before)
    return tx.updateTable("payments").set(seen).where("id", "=", before.id).returningAll().executeTakeFirstOrThrow();
  const row = {
    order_id: order.id,
    user_id: order.user_id,
    gateway,
    gateway_payment_id: payment.id,
    amount_minor: payment.amountMinor,
    currency: payment.currency,
    created_at: payment.createdAt,
    ...seen,
  };
  return (await insertPayment(tx, row)) ?? (await insertPayment(tx, row)) ?? failCollision();
}

/** Undefined when the first characters of its new id, which are the invoice's number (G18), are another's: then a second id. */
function insertPayment(tx: Tx, row: Omit<Insertable<Tables["payments"]>, "id">): Promise<Payment | undefined> {
  return tx
    .insertInto("payments")
    .values({ id: newId(), ...row })
    .onConflict((conflict) => conflict.expression(sql`"left"(id, 11)`).doNothing())
    .returningAll()
    .executeTakeFirst();
}

function failCollision(): never {
  throw new Error("no free invoice number: is the source of randomness broken?");
}

/**
 * All of it went back in the provider's dashboard, after it had bought something: its hours come off the
 * environment (G108). Before the delivery the order is closed by who confirms that the container is gone; a refund of ours
 * that had failed is settled by it.
 */
async function endPurchase(tx: Tx, order: LockedOrder, announce: Announce) {
  const { id, user_id: userId, status, subdomain, now } = order;
  if (status === "fulfilled" || status === "refunding")
    await tx.updateTable("orders").set({ status: "refunded", closed_at: now, hours: 0 }).where("id", "=", id).execute();
  if (status === "refunding") return;
  const left = await takeBackHours(tx, order);
  if (!left) return;
  await announce(tx, {
    userId,
    cause: `refunded:${id}`,
    title: left.ends ? `${subdomain} was refunded and ends` : `${subdomain} was refunded in part and ends earlier`,
    body: `The whole price of this order went back to your card.${remainingTimeText(subdomain, left)}`,
    link: `/billing/orders/${id}`,
  });
}

/** What went back that we never asked for: a refund made in the provider's dashboard. */
async function recordExternalRefund(
  tx: Tx,
  payment: Payment,
  { payment: seen, announce }: Observation,
): Promise<Payment> {
  // What a bank took back counts against the payment, but is no refund that the provider knows.
  const disputed = await disputedMinor(tx, payment.id);
  const amount_minor =
    Math.min(seen.refundedMinor, payment.amount_minor - disputed) - (payment.refund_minor - disputed);
  if (payment.status !== "captured" || amount_minor <= 0) return payment;
  const { id: payment_id, currency } = payment;
  const id = newId();
  await bookExternalRefund(tx, payment, { id, amount_minor });
  await tx
    .insertInto("refunds")
    .values({
      id,
      payment_id,
      amount_minor,
      currency,
      reason: "external",
      status: "processed",
      processed_at: sql`now()`,
    })
    .execute();
  await announce(tx, {
    userId: payment.user_id,
    cause: `refunded:${id}`,
    title: "Refund sent",
    body: `${formatAmount(amount_minor, currency)} left us for your card. Banks take 4-5 business days.`,
    link: `/billing/orders/${payment.order_id}`,
  });
  const booked = tx.updateTable("payments").set({ refund_minor: payment.refund_minor + amount_minor });
  const after = await booked.where("id", "=", payment_id).returningAll().executeTakeFirstOrThrow();
  await updateNetRevenue(tx, after.id);
  // Seen for the first time, its receipt is still to be issued, and the notes after it.
  await issueCreditNotes(tx, payment_id);
  return after;
}
