import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

export interface DisputeSummary {
  readonly gateway_dispute_id: string;
  readonly status: string;
  readonly phase: string;
  readonly reason_code: string | null;
  readonly amount_minor: number;
  readonly lost_minor: number;
  readonly currency: string;
  readonly order_id: string;
  readonly subdomain: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly respond_by: Date | null;
  readonly closed_at: Date | null;
}

/** Returns open disputes, the next to respond to first; with `all` the closed ones after them. */
export async function readDisputes(db: Db, all: boolean): Promise<readonly DisputeSummary[]> {
  const { rows } = await sql<DisputeSummary>`
    select d.gateway_dispute_id, d.status, d.phase, d.reason_code, d.amount_minor, d.lost_minor, d.currency, p.order_id, o.subdomain,
      d.user_id, pr.email, d.respond_by, d.closed_at
    from disputes d join payments p on p.id = d.payment_id join orders o on o.id = p.order_id left join profiles pr on pr.user_id = d.user_id
    where ${all} or d.closed_at is null
    order by d.closed_at desc nulls first, d.respond_by nulls last, d.id limit 200`.execute(db);
  return rows;
}
