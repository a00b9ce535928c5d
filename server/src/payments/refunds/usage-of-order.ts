import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";

export interface Usage {
  /** All time that was bought for the environment, bonus hours included. */
  readonly totalSeconds: number;
  readonly unusedSeconds: number;
}

/** Reads the used time of an order's environment: all is unused before it was ready, nothing after its end. */
export async function usageOfOrder(database: Sql, orderId: string): Promise<Usage> {
  const { rows } = await sql<Usage>`
    select bought.seconds as "totalSeconds",
      least(bought.seconds, floor(case
        when e.created_at is null then bought.seconds
        when e.expires_at is null then e.banked_seconds
        else greatest(0, extract(epoch from e.expires_at - coalesce(e.terminated_at, now()))) end)) as "unusedSeconds"
    from orders o join environments e on e.order_id = o.id or e.id = o.extends
    cross join lateral (
      select greatest(1, sum(b.hours) * 3600) as seconds from orders b
      where (b.id = e.order_id or b.extends = e.id) and (b.status = 'fulfilled' or b.id = o.id)) bought
    where o.id = ${orderId}`.execute(database);
  return rows[0] ?? { totalSeconds: 1, unusedSeconds: 0 };
}

/** The unused share of an amount, rounded down, so that no more is refunded than was left. */
export function prorate(amountMinor: number, { totalSeconds, unusedSeconds }: Usage): number {
  return Math.floor((amountMinor * Math.min(unusedSeconds, totalSeconds)) / totalSeconds);
}
