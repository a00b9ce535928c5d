import { major } from "@berth/contract";
import type { Db } from "../database/database.ts";

/** The newest payments of a user; an old account's rest is billing's to page through. */
const most = 500;

export async function paymentsOf(db: Db, userId: string) {
  return db
    .selectFrom("payments")
    .innerJoin("orders", "orders.id", "payments.order_id")
    .select([
      "payments.id",
      "payments.status",
      "payments.amount_minor",
      "payments.refund_minor",
      "payments.created_at",
      "orders.usd_minor",
      "orders.container_type",
      "orders.duration_hours",
    ])
    .where("payments.user_id", "=", userId)
    .orderBy("payments.created_at", "desc")
    .limit(most)
    .execute();
}

type PaymentRow = Awaited<ReturnType<typeof paymentsOf>>[number];

/** The wire's view: the list price in USD (G7), refunded once nothing of it is kept (G87). */
export function paymentOf(row: PaymentRow) {
  return {
    amount: major(row.usd_minor),
    status: wireStatus(row),
    created_at: row.created_at.toISOString(),
    service_details: { container_type: row.container_type, duration_hours: row.duration_hours },
  };
}

function wireStatus({ status, refund_minor, amount_minor }: PaymentRow): "paid" | "pending" | "failed" | "refunded" {
  if (status === "captured") return refund_minor === amount_minor ? "refunded" : "paid";
  return status === "failed" ? "failed" : "pending";
}
