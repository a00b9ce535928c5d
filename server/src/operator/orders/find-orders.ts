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
  /** Of all its payments: twice the amount where it was paid twice. */
  readonly paid_minor: number;
  readonly refund_minor: number;
  readonly currency: string;
}

interface Page {
  readonly limit: number;
  /** Id of the last order of the page before this one. */
  readonly before?: string | undefined;
}

/**
 * Finds orders, newest first: by the id of the order, payment, refund or environment, ours or the provider's, by the
 * number of a receipt, by the name of an environment or by the owner's id or address. Empty text finds all.
 */
export async function findOrders(db: Db, text: string, { limit, before }: Page): Promise<readonly OrderSummary[]> {
  const word = text.trim();
  const { rows } = await sql<OrderSummary>`
    with named as (
      select id from orders where ${word} in (id, gateway_order_id, subdomain, user_id, extends)
      union select id from orders where user_id in (select user_id from profiles where lower(email) = lower(${word}))
      union select order_id from payments where ${word} in (id, gateway_payment_id)
      union select p.order_id from payments p join receipts r on r.payment_id = p.id where r.number = ${word}
      union select p.order_id from payments p join refunds b on b.payment_id = p.id where ${word} in (b.id, b.gateway_refund_id)
      union select order_id from environments where id = ${word}),
    found as (
      select * from orders o where (${word} = '' or o.id in (select id from named))
        and (${before ?? ""} = '' or (o.created_at, o.id) < (select created_at, id from orders where id = ${before ?? ""}))
      order by o.created_at desc, o.id desc limit ${limit})
    select o.id, o.created_at, o.status, pr.email, o.user_id, o.subdomain, o.container_type, o.gpu_count, o.duration_hours,
      o.amount_minor, p.paid_minor, p.refund_minor, o.currency
    from found o left join profiles pr on pr.user_id = o.user_id cross join lateral (
      select coalesce(sum(amount_minor) filter (where status = 'captured'), 0)::bigint as paid_minor,
        coalesce(sum(refund_minor), 0)::bigint as refund_minor
      from payments where order_id = o.id) p
    order by o.created_at desc, o.id desc`.execute(db);
  return rows;
}

/** Returns an order as its owner sees it, with its timeline and the provider's id of it; the id is either. Throws for an unknown one. */
export async function showOrder(db: Db, id: string) {
  const { rows } = await sql<{ user_id: string; email: string | null; gateway_order_id: string | null }>`
    select o.user_id, p.email, o.gateway_order_id from orders o left join profiles p on p.user_id = o.user_id
    where ${id} in (o.id, o.gateway_order_id)`.execute(db);
  const [owner] = rows;
  const order = owner && (await readOrder(db, owner.user_id, id));
  if (!order) throw new AppError("not_found", `There is no order ${id}; orders find TEXT looks for one`);
  return { ...owner, ...order };
}
