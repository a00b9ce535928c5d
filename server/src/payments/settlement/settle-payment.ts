import { plural } from "@berth/contract";
import { type Insertable, sql, type Updateable } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Tables } from "../../database/tables.ts";
import { noLease } from "../../database/work-queue.ts";
import { releaseHold, renewHold } from "../../environments/allocation/hold.ts";
import { launch } from "../../environments/allocation/launch.ts";
import { isAccountDeleted } from "../../environments/homes/home-records.ts";
import { extend } from "../../environments/time/extend.ts";
import { issueCreditNotes } from "../ledger/issue-credit-notes.ts";
import { issueReceipt } from "../ledger/issue-receipt.ts";
import { bookCapture } from "../ledger/journal.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import type { Provider, ProviderPayment } from "../provider/provider.ts";
import { refundPayment } from "../refunds/create-refund.ts";
import { recordExternalRefund } from "../refunds/record-external-refund.ts";
import { deliverMinutes, holdMinutes, minutesAfter } from "./deadlines.ts";
import { stillBuys } from "./still-buys.ts";

type Payment = RowOf<"payments">;
/** `now` is the database's clock, by which all deadlines are written. */
type LockedOrder = OrderRow & { readonly now: Date };

/** `recorded`: no change in money. `settled`: this payment bought the environment. `refunding` and `duplicate` are refunded. */
export type SettlementResult = "unknown_order" | "recorded" | "settled" | "refunding" | "duplicate";

type SettlementDeps = Pick<PaymentsDeps, "db" | "log" | "giveUpAfterSeconds" | "announce" | "seller" | "catalogue"> & {
  readonly provider: Pick<Provider, "kind">;
};

const rank = { created: 0, failed: 1, authorized: 2, captured: 3 } as const;

/**
 * Records a payment as the provider reports it, and decides what it buys: the only place where money becomes a fact
 * (docs/internals/money.md). One idempotent transaction, without calls to the provider or a driver.
 */
export async function settlePayment(deps: SettlementDeps, reported: ProviderPayment): Promise<SettlementResult> {
  const gateway = deps.provider.kind;
  let orderId = "";
  const settled = await deps.db.transaction().execute(async (tx): Promise<SettlementResult> => {
    const order = await lockOrder(tx, gateway, reported.orderId);
    if (!order) return "unknown_order";
    orderId = order.id;
    const before = await findPayment(tx, gateway, reported.id);
    if (before && before.order_id !== order.id) throw new Error(`payment ${before.id} belongs to another order`);
    const recorded = await upsertPayment(tx, order, reported, before);
    if (recorded.status === "captured") await bookCapture(tx, recorded);
    const payment = await recordExternalRefund(tx, order, recorded, reported.refundedMinor, deps.announce);
    if (payment.status !== "captured" || before?.status === "captured") return "recorded";
    const result = await settleOrder(tx, deps, order, payment);
    await issueReceipt(tx, { order, payment, seller: result === "settled" ? deps.seller : undefined });
    await issueCreditNotes(tx, payment.id);
    return result;
  });
  if (settled === "settled") deps.log.info({ event: "order.paid", orderId }, "an order is paid");
  return settled;
}

async function settleOrder(
  tx: Tx,
  deps: SettlementDeps,
  order: LockedOrder,
  payment: Payment,
): Promise<SettlementResult> {
  if (order.paid_at) {
    await refundPayment(tx, payment, "surplus_payment", deps.announce);
    return "duplicate";
  }
  await tx.updateTable("payments").set({ settles_order: true }).where("id", "=", payment.id).execute();
  if (payment.refund_minor > 0) return refundInFull(tx, deps, order, payment, "late_payment");
  if (payment.amount_minor !== order.amount_minor || payment.currency !== order.currency)
    return refundInFull(tx, deps, order, payment, "wrong_amount");
  if (!(await stillBuys(tx, deps.catalogue, order, order.now)))
    return refundInFull(tx, deps, order, payment, "late_payment");
  if (order.extends) return settleExtension(tx, deps, order, order.extends, payment);
  if (!(await launchEnvironment(tx, order, deps.giveUpAfterSeconds)))
    return refundInFull(tx, deps, order, payment, "late_payment");
  await closeOrder(tx, order, {
    status: "paid",
    deliver_by: minutesAfter(order.now, deliverMinutes),
    usd_net_minor: order.usd_minor,
    hours: order.duration_hours,
    closed_at: null,
  });
  return "settled";
}

/** Extends the environment in this transaction, or refunds when it has ended meanwhile (G100). */
async function settleExtension(
  tx: Tx,
  deps: SettlementDeps,
  order: LockedOrder,
  environmentId: string,
  payment: Payment,
): Promise<SettlementResult> {
  const { id, user_id: userId, subdomain, usd_minor, duration_hours: hours, now } = order;
  if (!(await extend(tx, environmentId, hours))) return refundInFull(tx, deps, order, payment, "late_payment");
  await closeOrder(tx, order, { status: "fulfilled", usd_net_minor: usd_minor, hours, closed_at: now });
  await deps.announce(tx, {
    userId,
    cause: `extended:${id}`,
    title: `${subdomain} was extended`,
    body: `${plural(hours, "hour was", "hours were")} added. Nothing was restarted.`,
    link: `/billing/orders/${id}`,
  });
  return "settled";
}

/** Holds name and GPUs (again, for a late payment) and launches. Returns false when they are taken or the account is deleted. */
async function launchEnvironment(tx: Tx, order: LockedOrder, giveUpAfterSeconds: number): Promise<boolean> {
  const { id: orderId, user_id: userId, subdomain, gpu_count: gpuCount, now } = order;
  if (await isAccountDeleted(tx, userId)) return false;
  await sql`savepoint stock`.execute(tx);
  const held = await renewHold(tx, { orderId, userId, subdomain, gpuCount, holdUntil: minutesAfter(now, holdMinutes) });
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

/** Frees the hold of an order whose payment buys nothing, and refunds what is left of the payment. */
async function refundInFull(
  tx: Tx,
  { announce }: SettlementDeps,
  order: LockedOrder,
  payment: Payment,
  reason: "late_payment" | "wrong_amount",
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

/** Removes the lease, so that a concurrent poll does not overwrite this. */
async function closeOrder(tx: Tx, order: LockedOrder, change: Updateable<Tables["orders"]>): Promise<void> {
  await tx
    .updateTable("orders")
    .set({
      ...change,
      paid_at: order.now,
      due_at: minutesAfter(order.now, 1),
      ...noLease,
      attempts: 0,
      last_error: null,
    })
    .where("id", "=", order.id)
    .execute();
}

async function lockOrder(tx: Tx, gateway: string, providerOrderId: string): Promise<LockedOrder | undefined> {
  return tx
    .selectFrom("orders")
    .selectAll()
    .select(sql<Date>`now()`.as("now"))
    .where("gateway", "=", gateway)
    .where("gateway_order_id", "=", providerOrderId)
    .forUpdate()
    .executeTakeFirst();
}

function findPayment(tx: Tx, gateway: string, providerPaymentId: string): Promise<Payment | undefined> {
  return tx
    .selectFrom("payments")
    .selectAll()
    .where("gateway", "=", gateway)
    .where("gateway_payment_id", "=", providerPaymentId)
    .executeTakeFirst();
}

/** Forward only: a late report of an earlier status changes nothing. */
async function upsertPayment(
  tx: Tx,
  order: LockedOrder,
  payment: ProviderPayment,
  before: Payment | undefined,
): Promise<Payment> {
  if (before && rank[payment.status] <= before.rank) return before;
  const reported = {
    status: payment.status,
    method: payment.method,
    card_network: payment.cardNetwork,
    card_last4: payment.cardLast4,
    paid_from: payment.paidFrom,
    fee_minor: payment.feeMinor,
    error_code: payment.errorCode,
    error_reason: payment.errorReason,
    captured_at: payment.status === "captured" ? order.now : null,
  };
  if (before)
    return tx
      .updateTable("payments")
      .set(reported)
      .where("id", "=", before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  const row = {
    order_id: order.id,
    user_id: order.user_id,
    gateway: order.gateway,
    gateway_payment_id: payment.id,
    amount_minor: payment.amountMinor,
    currency: payment.currency,
    created_at: payment.createdAt,
    ...reported,
  };
  return (await insertPayment(tx, row)) ?? (await insertPayment(tx, row)) ?? failCollision();
}

/** Returns undefined on a collision of the id's prefix, which is the invoice number (G18); the caller retries with a new id. */
function insertPayment(tx: Tx, row: Omit<Insertable<Tables["payments"]>, "id">): Promise<Payment | undefined> {
  return tx
    .insertInto("payments")
    .values({ id: newId(), ...row })
    .onConflict((conflict) => conflict.expression(sql`"left"(id, 11)`).doNothing())
    .returningAll()
    .executeTakeFirst();
}

function failCollision(): never {
  throw new Error("invoice numbers collide repeatedly: the random number generator may be broken");
}
