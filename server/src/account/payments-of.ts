import { major } from "@berth/contract";
import { sql } from "kysely";
import type { Db, RowOf } from "../database/database.ts";

/** Limit for each user: billing has older payments. */
const most = 500;

export type PaymentRow = Pick<
  RowOf<"payments">,
  "id" | "user_id" | "status" | "amount_minor" | "refund_minor" | "created_at"
> &
  Pick<RowOf<"orders">, "usd_minor" | "container_type" | "duration_hours">;

/** Returns the payments of these users, newest first. */
export async function paymentsOf(db: Db, userIds: readonly string[]): Promise<readonly PaymentRow[]> {
  const { rows } = await sql<PaymentRow>`
    select p.*, o.usd_minor, o.container_type, o.duration_hours
    from unnest(${[...userIds]}::text[]) as asked (id) cross join lateral (
      select id, user_id, order_id, status, amount_minor, refund_minor, created_at
      from payments where user_id = asked.id order by created_at desc limit ${most}) p
    join orders o on o.id = p.order_id order by p.created_at desc`.execute(db);
  return rows;
}

/** Wire format: the list price in USD (G7), `refunded` once all of it has gone back (G87). */
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
