import { sql } from "kysely";
import type { Db } from "../../server/src/database/database.ts";

/** What became of each payment that the embedded provider captured. */
export type PaymentOutcomes = Record<
  "paid" | "delivered" | "decided" | "refunded" | "duplicate" | "both" | "neither",
  number
>;

/** Compares the books of the embedded provider with ours, payment by payment (P1). */
export async function outcomesOfPayments(db: Db): Promise<PaymentOutcomes | undefined> {
  const { rows } = await sql<PaymentOutcomes>`
    with books as (
      select g.refunded_minor = g.amount_minor as back, g.refunded_minor = 0 as kept, p.settles_order as settles,
        case when o.extends is null then e.created_at is not null else o.status = 'fulfilled' end as ran,
        exists (select from refunds r where r.payment_id = p.id and r.reason in ('external', 'discretionary'))
          or exists (select from disputes d where d.payment_id = p.id and d.status = 'lost') as decided
      from embedded_gateway_payments g
      left join payments p on p.gateway_payment_id = g.id
      left join orders o on o.id = p.order_id
      left join environments e on e.order_id = p.order_id
      where g.status = 'captured')
    select count(*) filter (where settles) as paid,
      count(*) filter (where settles and ran and kept and not decided) as delivered,
      count(*) filter (where settles and decided) as decided,
      count(*) filter (where settles and back and not ran and not decided) as refunded,
      count(*) filter (where not settles and back) as duplicate,
      count(*) filter (where settles and ran and not kept and not decided) as both,
      count(*) filter (where settles is null or (settles and not ran and not back and not decided) or (not settles and not back)) as neither
    from books`.execute(db);
  return rows[0];
}
