import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/database.ts";
import type { InvoiceRow, MonthRow, RunRow, Sources } from "./statement.ts";

/** Spec 9.3. */
const mostInvoices = 10;

/** Reads the data of a user's statement. */
export async function readBilling(db: Db, userId: string): Promise<Sources> {
  const [months, invoices, runs] = await Promise.all([
    monthsOf(userId).execute(db),
    invoicesOf(userId).execute(db),
    runsOf(userId).execute(db),
  ]);
  return { months: months.rows, invoices: invoices.rows, runs: runs.rows };
}

/**
 * Sums paid orders by UTC month and type, by an index-only scan of `orders_paid` (docs/internals/money.md). One range for each
 * month is four times as fast as grouping every order by its month.
 */
export function monthsOf(userId: string): RawBuilder<MonthRow> {
  return sql<MonthRow>`
    select to_char(month, 'YYYY-MM') as month, service, usd_minor, payments, hours
    from (select min(paid_at) at time zone 'UTC' as first, max(paid_at) at time zone 'UTC' as last
          from orders where user_id = ${userId} and paid_at is not null) paid
    cross join lateral generate_series(date_trunc('month', first), last, interval '1 month') month
    cross join lateral (
      select container_type as service, sum(usd_net_minor) as usd_minor,
        count(*) filter (where usd_net_minor > 0) as payments, sum(hours) as hours
      from orders where user_id = ${userId}
        and paid_at >= month at time zone 'UTC' and paid_at < (month + interval '1 month') at time zone 'UTC'
      group by 1) booked`;
}

/** The newest orders with a payment, each with its furthest payment. */
function invoicesOf(userId: string): RawBuilder<InvoiceRow> {
  return sql<InvoiceRow>`
    select p.id, p.gateway_payment_id, p.status, p.amount_minor, p.currency, p.refund_minor, p.created_at,
      coalesce(o.paid_at, p.created_at) as at, o.id as order_id, o.usd_minor, o.container_type, o.duration_hours,
      (select s.id from sessions s
       where s.environment_id = coalesce(o.extends, (select e.id from environments e where e.order_id = o.id))
       order by s.opened_at desc, s.id limit 1) as session_id,
      array(select number from credit_notes where payment_id = p.id order by issued_at, number) as credit_notes
    from orders o cross join lateral (
      select * from payments where order_id = o.id
      order by settles_order desc, rank desc, created_at desc, id limit 1) p
    where o.user_id = ${userId}
    order by o.created_at desc, o.id desc limit ${mostInvoices}`;
}

/** Actual running hours, open sessions up to now (G32), by an index-only scan of `sessions_run`. */
function runsOf(userId: string): RawBuilder<RunRow> {
  return sql<RunRow>`
    select container_type as service, extract(epoch from sum(coalesce(closed_at, now()) - opened_at)) / 3600 as hours
    from sessions where user_id = ${userId} group by 1`;
}
