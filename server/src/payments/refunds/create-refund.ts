import { createHash } from "node:crypto";
import { payingAccount } from "@berth/contract";
import { sql } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { bookRefundCreated } from "../ledger/journal.ts";

export type RefundReason =
  | "not_delivered"
  | "silent"
  | "cancelled"
  | "late_payment"
  | "surplus_payment"
  | "wrong_amount"
  | "hardware"
  | "discretionary";

const reasonText: Readonly<Record<RefundReason, string>> = {
  not_delivered: "The environment could not be delivered.",
  silent:
    "Its container ran, but JupyterLab did not answer within ten minutes. This goes back by itself once; the next time a person decides.",
  cancelled: "You cancelled the launch.",
  late_payment: "The payment arrived when the order could no longer be delivered.",
  surplus_payment: "The order was paid twice.",
  wrong_amount: "The amount paid is not the amount of the order.",
  hardware:
    "The machine failed and the environment could not be brought back. The time you could not use is paid back.",
  discretionary: "Your environment was ended before its paid time was over. The time you could not use is paid back.",
};

/**
 * Creates a refund of the rest of a payment, or of at most `mostMinor`, once per payment and reason, and notifies the user.
 * Does nothing for a payment that was refunded in full.
 */
export async function refundPayment(
  tx: Tx,
  payment: RowOf<"payments">,
  reason: RefundReason,
  announce: Announce,
  mostMinor: number = payment.amount_minor,
): Promise<void> {
  const amountMinor = Math.min(mostMinor, payment.amount_minor - payment.refund_minor);
  if (amountMinor === 0) return;
  const id = await createRefund(tx, payment, { reason, amountMinor, source: reason });
  if (!id) return;
  await announce(tx, {
    userId: payment.user_id,
    cause: `refund:${id}`,
    title: "Refund started",
    body: `${reasonText[reason]} ${formatAmount(amountMinor, payment.currency)} is on its way back to ${payingAccount(payment.method).name}; banks take 4-5 business days.`,
    link: `/billing/orders/${payment.order_id}`,
  });
}

interface NewRefund {
  readonly reason: RefundReason;
  readonly amountMinor: number;
  /** Unique for each payment: the reason, or the id of the granted request. */
  readonly source: string;
}

/**
 * Writes and books one refund, due now. Its id is a hash of payment and source and the provider's idempotency key, so that
 * a replay never pays twice. Returns null when it exists already.
 */
export async function createRefund(
  tx: Tx,
  payment: RowOf<"payments">,
  { reason, amountMinor: amount_minor, source }: NewRefund,
): Promise<string | null> {
  const id = createHash("sha256").update(`${payment.id}|${source}`).digest("hex").slice(0, 25);
  const { currency } = payment;
  const inserted = await tx
    .insertInto("refunds")
    .values({ id, payment_id: payment.id, amount_minor, currency, reason, status: "queued", due_at: sql`now()` })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted) return null;
  await bookRefundCreated(tx, payment, { id, amount_minor });
  await tx
    .updateTable("payments")
    .set({ refund_minor: payment.refund_minor + amount_minor })
    .where("id", "=", payment.id)
    .execute();
  return id;
}
