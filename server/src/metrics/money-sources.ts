import { sql } from "kysely";
import type { DatabaseSource } from "./database-source.ts";

const unsettled = sql`r.status not in ('processed', 'waived')`;

/** Orders that are not over, and money that waits for somebody. Orders that are over are counted by the ledger alone. */
export const moneySources: readonly DatabaseSource[] = [
  {
    labels: ["status"],
    gauges: { count: { name: "berth_orders", help: "Orders that are not over, by status." } },
    rows: sql`
      select s.status, count(o.id)::float8 as count from (values ('draft'), ('open')) s(status)
      left join orders o on o.status = s.status and o.status in ('draft', 'open') group by s.status
      union all select 'paid', count(*)::float8 from orders where status = 'paid'
      union all select 'refunding', count(distinct o.id)::float8 from refunds r join payments p on p.id = r.payment_id
        join orders o on o.id = p.order_id where ${unsettled} and o.status = 'refunding'`,
  },
  {
    labels: ["kind", "currency"],
    gauges: {
      amount: {
        name: "berth_money_waiting_minor",
        help: "Money in minor units that waits: paid for a launch, to be refunded (unsent, sent, failed, held by a dispute), disputed.",
      },
      age: { name: "berth_money_waiting_oldest_seconds", help: "How long the oldest of it has waited." },
    },
    rows: sql`
      select kind, currency, sum(amount_minor)::float8 as amount,
        extract(epoch from now() - min(since))::float8 as age from (
        select 'delivery' as kind, currency, amount_minor, paid_at as since from orders where status = 'paid'
        union all
        select case when r.status = 'sent' then 'refund_sent' when r.status = 'failed' then 'refund_failed'
            when exists (select from disputes d where d.payment_id = r.payment_id and d.status in ('open', 'under_review'))
            then 'refund_held' else 'refund_unsent' end, currency, amount_minor, created_at
        from refunds r where ${unsettled}
        union all
        select 'dispute', currency, amount_minor, created_at from disputes where status in ('open', 'under_review')) w
      group by kind, currency`,
  },
];
