import { major, type UnpaidOrder } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** A user's orders that can still be paid (G333). After the hold the same request would get a new order. */
export async function readUnpaidOrders(db: Db, userId: string): Promise<UnpaidOrder[]> {
  const { rows } = await sql<UnpaidRow>`
    select id, gateway_order_id, extends, container_type, subdomain, gpu_count, duration_hours, amount_minor, currency, hold_until
    from orders where user_id = ${userId} and status = 'open' and hold_until > now()`.execute(db);
  return rows.map(({ gateway_order_id, amount_minor, hold_until, ...order }) => ({
    ...order,
    payment_order: gateway_order_id,
    amount: major(amount_minor),
    held_until: hold_until.toISOString(),
  }));
}

interface UnpaidRow extends Omit<UnpaidOrder, "payment_order" | "amount" | "held_until"> {
  readonly gateway_order_id: string;
  readonly amount_minor: number;
  readonly hold_until: Date;
}
