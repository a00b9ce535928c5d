import { sql } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { bookDisputeLost, bookRemainingRevenue } from "../ledger/journal.ts";
import { lockPayment } from "../ledger/lock-payment.ts";
import { updateNetRevenue } from "../ledger/update-net-revenue.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import type { ProviderDispute } from "../provider/provider.ts";
import { refundRest, takeBackHours } from "../refunds/take-back-hours.ts";
import { endUnpaidOrders } from "./end-unpaid-orders.ts";

type Payment = RowOf<"payments">;
type Dispute = RowOf<"disputes">;

/** `recorded`: no change in money. `lost`: this call booked the loss. */
export type DisputeResult = "unknown_payment" | "recorded" | "lost";

/** A decision is final, except that a won or closed dispute can still be lost. */
const precedence = { open: 0, under_review: 0, won: 1, closed: 1, lost: 2 } as const;

/**
 * The only place that records a dispute (docs/internals/money.md): one idempotent transaction under the order's lock,
 * without calls to the provider. A lost dispute is booked once, counts against what is left of the payment, ends the
 * purchase and holds the account.
 */
export async function recordDispute(
  { db, provider, announce }: Pick<PaymentsDeps, "db" | "provider" | "announce">,
  reported: ProviderDispute,
): Promise<DisputeResult> {
  return db.transaction().execute(async (tx) => {
    const found = await lockDisputed(tx, provider.kind, reported.paymentId);
    if (!found) return "unknown_payment";
    const { order, payment, unpaid } = found;
    const before = await findDispute(tx, provider.kind, reported.id);
    const progress = before ? precedence[reported.status] - precedence[before.status] : 1;
    if (progress < 0) return "recorded";
    const dispute = await upsertDispute(tx, payment, provider.kind, reported, before);
    if (progress === 0) return "recorded";
    if (reported.status !== "lost") {
      await notifyChange(tx, order, dispute, before !== undefined, announce);
      return "recorded";
    }
    await endUnpaidOrders(tx, unpaid);
    await recordLoss(tx, order, payment, dispute, announce);
    return "lost";
  });
}

/** Locks the account's unpaid orders too, all by id: a loss ends them (G314). */
async function lockDisputed(tx: Tx, gateway: string, gatewayPaymentId: string) {
  const known = await tx
    .selectFrom("payments")
    .select(["id", "order_id", "user_id"])
    .where("gateway", "=", gateway)
    .where("gateway_payment_id", "=", gatewayPaymentId)
    .executeTakeFirst();
  if (!known) return undefined;
  const { rows } = await sql<OrderRow>`
    select * from orders where id = ${known.order_id} or (user_id = ${known.user_id} and status in ('draft', 'open'))
    order by id for update`.execute(tx);
  const order = rows.find(({ id }) => id === known.order_id);
  if (!order) throw new Error(`payment ${known.id} has no order`);
  const unpaid = rows.filter(({ id }) => id !== order.id);
  return { order, payment: await lockPayment(tx, known.id), unpaid };
}

function findDispute(tx: Tx, gateway: string, id: string): Promise<Dispute | undefined> {
  return tx
    .selectFrom("disputes")
    .selectAll()
    .where("gateway", "=", gateway)
    .where("gateway_dispute_id", "=", id)
    .executeTakeFirst();
}

async function upsertDispute(
  tx: Tx,
  payment: Payment,
  gateway: string,
  reported: ProviderDispute,
  before: Dispute | undefined,
): Promise<Dispute> {
  const lost = reported.status === "lost" ? before?.lost_minor || lostMinor(payment, reported) : 0;
  const change = {
    status: reported.status,
    phase: reported.phase,
    respond_by: reported.respondBy,
    lost_minor: lost,
    closed_at: precedence[reported.status] > 0 ? (before?.closed_at ?? sql<Date>`now()`) : null,
  };
  if (before)
    return tx.updateTable("disputes").set(change).where("id", "=", before.id).returningAll().executeTakeFirstOrThrow();
  return tx
    .insertInto("disputes")
    .values({
      id: newId(),
      gateway,
      gateway_dispute_id: reported.id,
      payment_id: payment.id,
      user_id: payment.user_id,
      reason_code: reported.reasonCode,
      amount_minor: reported.amountMinor,
      currency: reported.currency,
      created_at: reported.createdAt,
      ...change,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Without a deducted amount the disputed amount counts; in another currency the whole payment. */
function lostMinor(payment: Payment, { currency, deductedMinor, amountMinor }: ProviderDispute): number {
  return currency === payment.currency ? deductedMinor || amountMinor : payment.amount_minor;
}

async function recordLoss(
  tx: Tx,
  order: OrderRow,
  payment: Payment,
  dispute: Dispute,
  announce: Announce,
): Promise<void> {
  const { id, lost_minor: lost } = dispute;
  const counted = Math.min(lost, payment.amount_minor - payment.refund_minor);
  await tx.updateTable("disputes").set({ counted_minor: counted }).where("id", "=", id).execute();
  const gone = payment.refund_minor + counted;
  await tx.updateTable("payments").set({ refund_minor: gone }).where("id", "=", payment.id).execute();
  await bookDisputeLost(tx, payment, { id, amount_minor: lost });
  await updateNetRevenue(tx, payment.id);
  await releaseRefunds(tx, payment.id);
  await tx
    .insertInto("account_holds")
    .values({ user_id: payment.user_id, dispute_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  if (payment.settles_order) await endPurchase(tx, order, { ...payment, refund_minor: gone }, announce);
  await announce(tx, {
    userId: payment.user_id,
    cause: `disputed:${id}`,
    title: "Your bank took a payment back",
    body: `Your bank took back ${formatAmount(lost, payment.currency)} for ${order.subdomain}. What it paid for ends, and new orders are stopped. If this is a mistake, write to Support.`,
    link: "/support",
  });
}

/** Books the rest of the order as revenue and ends its hours. Other orders of the environment keep theirs (G108). */
async function endPurchase(tx: Tx, order: OrderRow, payment: Payment, announce: Announce): Promise<void> {
  await bookRemainingRevenue(tx, order.id);
  const allGone = payment.refund_minor === payment.amount_minor;
  // Before the delivery the reconciler closes the order, once the container is gone, as for any refund.
  if (allGone && order.status === "fulfilled")
    await tx
      .updateTable("orders")
      .set({ status: "refunded", closed_at: sql`now()` })
      .where("id", "=", order.id)
      .execute();
  if (order.status === "refunding" || order.status === "refunded") return;
  if (allGone || order.status !== "fulfilled") await takeBackHours(tx, order);
  else await refundRest(tx, order, payment, announce);
}

/** Notifies the buyer that a dispute was opened, or that one they know of is over. */
async function notifyChange(
  tx: Tx,
  order: OrderRow,
  dispute: Dispute,
  known: boolean,
  announce: Announce,
): Promise<void> {
  if (dispute.closed_at) return known ? await notifyClosed(tx, order, dispute, announce) : undefined;
  await announce(tx, {
    userId: dispute.user_id,
    cause: `dispute:${dispute.id}`,
    title: "A payment is disputed",
    body: `Your bank asks for ${formatAmount(dispute.amount_minor, dispute.currency)} of ${order.subdomain} back. If you know this payment, tell your bank. Refunds of it wait until the bank has decided.`,
    link: `/billing/orders/${order.id}`,
  });
}

async function notifyClosed(tx: Tx, order: OrderRow, dispute: Dispute, announce: Announce): Promise<void> {
  await releaseRefunds(tx, dispute.payment_id);
  await announce(tx, {
    userId: dispute.user_id,
    cause: `dispute-over:${dispute.id}`,
    title: "A dispute is over",
    body: `Your bank has closed the dispute about ${order.subdomain}. The payment stands; a refund that waited for this is sent now.`,
    link: `/billing/orders/${order.id}`,
  });
}

/** Makes the payment's unsent refunds due: after the decision they are sent or waived. */
async function releaseRefunds(tx: Tx, paymentId: string): Promise<void> {
  await tx
    .updateTable("refunds")
    .set({ due_at: sql`now()` })
    .where("payment_id", "=", paymentId)
    .where("status", "not in", ["processed", "waived"])
    .execute();
}
