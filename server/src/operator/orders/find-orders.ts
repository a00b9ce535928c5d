import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { readOrder } from "../../billing/read-order.ts";
import type { Db } from "../../database/database.ts";

export interface OrderSummary {
  readonly id: string;
  readonly created_at: Date;
  readonly status: string;
  readonly email: string | null;
  readonly user_id: string;
  readonly subdomain: string;
  readonly container_type: string;
  readonly gpu_count: number;
  readonly duration_hours: number;
  readonly amount_minor: number;
  readonly refund_minor: number;
  readonly currency: string;
}

const listLength = 50;

/**
 * Finds orders, newest first and 50 at most: by the id of the order, payment, refund or environment, ours or the provider's,
 * by the number of a receipt, by the name of an environment or by the owner's id or address.
 */
export async function findOrders(db: Db, text: string): Promise<readonly OrderSummary[]> {
  const word = text.trim();
  const { rows } = await sql<OrderSummary>`
    select o.id, o.created_at, o.status, pr.email, o.user_id, o.subdomain, o.container_type, o.gpu_count, o.duration_hours,
      o.amount_minor, coalesce(sum(p.refund_minor), 0)::bigint as refund_minor, o.currency
    from orders o left join payments p on p.order_id = o.id left join profiles pr on pr.user_id = o.user_id
    where ${word} in (o.id, o.gateway_order_id, o.subdomain, o.user_id, o.extends) or lower(pr.email) = lower(${word})
      or exists (select from environments e where e.order_id = o.id and e.id = ${word})
      or exists (select from payments f left join receipts r on r.payment_id = f.id left join refunds b on b.payment_id = f.id
        where f.order_id = o.id and ${word} in (f.id, f.gateway_payment_id, r.number, b.id, b.gateway_refund_id))
    group by o.id, pr.email order by o.created_at desc, o.id limit ${listLength}`.execute(db);
  return rows;
}

/** Returns an order as its owner sees it, with its timeline; the id is ours or the provider's. Throws for an unknown one. */
export async function showOrder(db: Db, id: string) {
  const { rows } = await sql<{ user_id: string; email: string | null }>`
    select o.user_id, p.email from orders o left join profiles p on p.user_id = o.user_id
    where ${id} in (o.id, o.gateway_order_id)`.execute(db);
  const [owner] = rows;
  const order = owner && (await readOrder(db, owner.user_id, id));
  if (!order) throw new AppError("not_found", `There is no order ${id}; orders find TEXT looks for one`);
  return { ...owner, ...order };
}
