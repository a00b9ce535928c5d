import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";

/** Updates an order's net revenue in billing (G20): the list price less the refunded share. It never rises. */
export async function updateNetRevenue(tx: Tx, paymentId: string): Promise<void> {
  await sql`
    update orders o set usd_net_minor = least(o.usd_net_minor,
      greatest(0, o.usd_minor - round(o.usd_minor * p.refund_minor::numeric / p.amount_minor)::bigint))
    from payments p where p.id = ${paymentId} and p.settles_order and o.id = p.order_id`.execute(tx);
}
