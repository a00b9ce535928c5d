import { type RawBuilder, sql } from "kysely";

/** Hours of the orders of an environment `e` that were not paid back, with bonuses and extensions. */
export const bookedHours: RawBuilder<number> = sql`(
  select coalesce(sum(hours), 0) from orders where status = 'fulfilled' and (id = e.order_id or extends = e.id))`;

export interface PaidSum {
  readonly currency: string;
  readonly minor: number;
}

/** What was paid for these hours by currency, less what went back, as JSON. */
export const paidSums: RawBuilder<readonly PaidSum[]> = sql`(
  select coalesce(json_agg(sums order by currency), '[]') from (
    select p.currency, sum(p.amount_minor - p.refund_minor) as minor from orders o join payments p on p.order_id = o.id
    where o.status = 'fulfilled' and p.settles_order and (o.id = e.order_id or o.extends = e.id) group by 1) sums)`;
