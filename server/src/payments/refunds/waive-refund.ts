import { sql } from "kysely";
import type { Db, RowOf, Sql, Tx } from "../../database/database.ts";
import { finish, inMs, type Leased, workQueue } from "../../database/work-queue.ts";
import { bookRefundWaived } from "../ledger/journal.ts";
import { lockPayment } from "../ledger/lock-payment.ts";

export const refundQueue = workQueue("refunds", ["id"], 30);

export type LeasedRefund = Leased<RowOf<"refunds">>;

/** Whether a dispute of the payment is undecided, or lost. */
export async function disputeState(db: Db, paymentId: string): Promise<"none" | "open" | "lost"> {
  const rows = db.selectFrom("disputes").select("status").where("payment_id", "=", paymentId);
  const statuses = new Set((await rows.execute()).map(({ status }) => status));
  if (statuses.has("open") || statuses.has("under_review")) return "open";
  return statuses.has("lost") ? "lost" : "none";
}

/** Sum of lost disputes that counts against a payment, in minor units of its currency. */
export async function disputedMinor(db: Sql, paymentId: string): Promise<number> {
  const { sum } = await db
    .selectFrom("disputes")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("counted_minor"), row.lit(0)).as("sum"))
    .where("payment_id", "=", paymentId)
    .executeTakeFirstOrThrow();
  return sum;
}

/** Postpones a refund, because the money could go back twice: retried every hour, and once the dispute is decided. */
export async function postponeRefund(db: Db, refund: LeasedRefund): Promise<void> {
  const last_error = "postponed: a dispute of this payment is open";
  await finish(db, refundQueue, refund, { attempts: 0, due_at: inMs(3_600_000), last_error });
}

/**
 * Reduces a refund by the money that a bank took, in one transaction under the lease; the rest is due now. Returns false when
 * nothing was taken: then the refund is sent as any other.
 */
export async function waiveRefund(db: Db, refund: LeasedRefund): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const payment = await lockPayment(tx, refund.payment_id);
    const waived = Math.min(refund.amount_minor, await takenMinor(tx, payment, refund));
    if (waived <= 0) return false;
    const left = refund.amount_minor - waived;
    const change = left > 0 ? { amount_minor: left, due_at: inMs(0) } : done;
    // The lease was lost: its new holder does it.
    if (!(await finish(tx, refundQueue, refund, change))) return true;
    const failed = refund.status === "failed";
    // Each part is booked with its own source, distinguished by the remaining amount.
    const part = { id: `${refund.id}:${refund.amount_minor}`, amount_minor: waived };
    await bookRefundWaived(tx, payment, part, failed);
    if (!failed) await countAgainstDisputes(tx, payment.id, waived);
    if (left === 0 && payment.settles_order) await closeRefundedOrder(tx, payment.order_id);
    return true;
  });
}

const done = { status: "waived", due_at: null, last_error: "the bank has taken the money back" } as const;

/** For a failed refund the part that exceeds what is left of the payment; else the uncounted loss of disputes. */
async function takenMinor(tx: Tx, payment: RowOf<"payments">, refund: LeasedRefund): Promise<number> {
  if (refund.status === "failed") return refund.amount_minor - (payment.amount_minor - payment.refund_minor);
  const rows = tx.selectFrom("disputes").select(["lost_minor", "counted_minor"]).where("payment_id", "=", payment.id);
  return (await rows.execute()).reduce((sum, { lost_minor, counted_minor }) => sum + lost_minor - counted_minor, 0);
}

/** Moves the amount from the refund to disputes: the payment's `refund_minor` stays the same. */
async function countAgainstDisputes(tx: Tx, paymentId: string, waivedMinor: number): Promise<void> {
  const rows = tx.selectFrom("disputes").selectAll().where("payment_id", "=", paymentId).orderBy("id");
  let left = waivedMinor;
  for (const { id, lost_minor, counted_minor } of await rows.execute()) {
    const more = Math.min(left, lost_minor - counted_minor);
    left -= more;
    const change = { counted_minor: counted_minor + more };
    await tx.updateTable("disputes").set(change).where("id", "=", id).execute();
  }
}

export async function closeRefundedOrder(tx: Tx, orderId: string): Promise<void> {
  await sql`
    update orders set status = 'refunded', closed_at = now(),
      due_at = least(watch_until, now() + interval '1 hour')
    where id = ${orderId} and status = 'refunding'`.execute(tx);
}
