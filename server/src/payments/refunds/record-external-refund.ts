import { payingAccount } from "@berth/contract";
import { sql } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { issueCreditNotes } from "../ledger/issue-credit-notes.ts";
import { bookExternalRefund } from "../ledger/journal.ts";
import { updateNetRevenue } from "../ledger/update-net-revenue.ts";
import { remainingTimeText, takeBackHours } from "./take-back-hours.ts";
import { disputedMinor } from "./waive-refund.ts";

type Payment = RowOf<"payments">;
type Order = RowOf<"orders"> & { readonly now: Date };

/**
 * Books a refund that was made in the provider's dashboard. `refundedMinor` is the payment's total at the provider. Returns
 * the updated payment. The caller has locked the order.
 */
export async function recordExternalRefund(
  tx: Tx,
  order: Order,
  payment: Payment,
  refundedMinor: number,
  announce: Announce,
): Promise<Payment> {
  // Disputed money counts against the payment here, but is no refund at the provider.
  const disputed = await disputedMinor(tx, payment.id);
  const amount_minor = Math.min(refundedMinor, payment.amount_minor - disputed) - (payment.refund_minor - disputed);
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
    body: `${formatAmount(amount_minor, currency)} left us for ${payingAccount(payment.method).name}. Banks take 4-5 business days.`,
    link: `/billing/orders/${payment.order_id}`,
  });
  const booked = tx.updateTable("payments").set({ refund_minor: payment.refund_minor + amount_minor });
  const after = await booked.where("id", "=", payment_id).returningAll().executeTakeFirstOrThrow();
  await updateNetRevenue(tx, after.id);
  // A payment recorded just now has no receipt yet: its credit notes are issued after that.
  await issueCreditNotes(tx, payment_id);
  if (after.settles_order && after.refund_minor === after.amount_minor)
    await endPurchase(tx, order, after.method, announce);
  return after;
}

/**
 * Takes the hours of a fully refunded order off its environment (G108). Before the delivery the reconciler closes the order,
 * once the container is gone. Also settles a failed refund of ours.
 */
async function endPurchase(tx: Tx, order: Order, method: string | null, announce: Announce): Promise<void> {
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
    body: `The whole price of this order went back to ${payingAccount(method).name}.${remainingTimeText(subdomain, left)}`,
    link: `/billing/orders/${id}`,
  });
}
