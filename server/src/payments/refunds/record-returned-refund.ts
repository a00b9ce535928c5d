import { sql } from "kysely";
import { formatAmount } from "../ledger/format-amount.ts";
import { bookRefundReturned } from "../ledger/journal.ts";
import { lockPayment } from "../ledger/lock-payment.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";

/**
 * Records that the bank returned a processed refund (C36): it is a failed refund again, retried daily, for an operator to
 * resolve. Reads the refund at the provider first. Throws `ProviderError`.
 */
export async function recordReturnedRefund(
  { db, provider, announce }: PaymentsDeps,
  gatewayRefundId: string,
): Promise<void> {
  const found = await provider.refundById(gatewayRefundId);
  if (found.status !== "failed") return;
  await db.transaction().execute(async (tx) => {
    const ours = tx.selectFrom("refunds").select("payment_id").where("gateway_refund_id", "=", gatewayRefundId);
    const known = await ours.executeTakeFirst();
    if (!known) return;
    await lockPayment(tx, known.payment_id);
    const refund = await tx
      .updateTable("refunds")
      .set({
        status: "failed",
        processed_at: null,
        arn: null,
        due_at: sql`now() + interval '1 day'`,
        last_error: "returned by the bank after it had arrived",
      })
      .where("gateway_refund_id", "=", gatewayRefundId)
      .where("status", "=", "processed")
      .returningAll()
      .executeTakeFirst();
    if (!refund) return;
    const payment = await tx
      .updateTable("payments")
      .set({ refund_minor: sql`refund_minor - ${refund.amount_minor}` })
      .where("id", "=", refund.payment_id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await bookRefundReturned(tx, payment, refund);
    await announce(tx, {
      userId: payment.user_id,
      cause: `refund-returned:${refund.id}`,
      title: "A refund came back",
      body: `Your bank did not take ${formatAmount(refund.amount_minor, payment.currency)}. It is still owed to you, and a person is looking after it.`,
      link: "/billing?tab=invoices",
    });
  });
}
