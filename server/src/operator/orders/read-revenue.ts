import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

export interface Revenue {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly currency: string;
  readonly payments: number;
  /** Minor units: captured that day, and refunds and lost disputes of that day. */
  readonly paid_minor: number;
  readonly refunded_minor: number;
  readonly disputed_minor: number;
}

/** Returns money by day and currency, from `from` to before `to`; days without money are absent. */
export async function readRevenue(db: Db, from: Date, to: Date): Promise<readonly Revenue[]> {
  const { rows } = await sql<Revenue>`
    with moved as (
      select captured_at as at, currency, 1 as payments, amount_minor as paid, 0 as refunded, 0 as disputed
      from payments where status = 'captured'
      union all select r.created_at, r.currency, 0, 0, r.amount_minor, 0 from refunds r where r.status <> 'waived'
      union all select d.closed_at, d.currency, 0, 0, 0, d.lost_minor from disputes d where d.status = 'lost')
    select to_char(at at time zone 'utc', 'YYYY-MM-DD') as day, currency, sum(payments)::int as payments,
      sum(paid)::bigint as paid_minor, sum(refunded)::bigint as refunded_minor, sum(disputed)::bigint as disputed_minor
    from moved where at >= ${from} and at < ${to} group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}
