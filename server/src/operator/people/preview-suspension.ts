import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { prorate } from "../../payments/refunds/usage-of-order.ts";

/** Of one currency, in minor units. */
interface Amount {
  readonly currency: string;
  readonly minor: number;
}

export interface SuspensionPreview {
  /** Environments that would stop, and with a refund end. */
  readonly stopping: number;
  readonly ending: number;
  /** Launches that were never ready end, and are paid back in any case. */
  readonly launches: number;
  readonly launch_amounts: readonly Amount[];
  readonly unpaid_orders: number;
  /** The unused time of those that would end; later it is less. */
  readonly unused_amounts: readonly Amount[];
}

/** Says what `suspendUser` would do now. Changes nothing. */
export async function previewSuspension(db: Db, userId: string): Promise<SuspensionPreview> {
  const [living, unpaid, paid] = await Promise.all([
    livingOf(db, userId),
    sql<{ count: number }>`
      select count(*)::int as count from orders where user_id = ${userId} and status in ('draft', 'open')`.execute(db),
    paidOf(db, userId),
  ]);
  const launched = living.filter(({ is_ready }) => is_ready);
  return {
    stopping: launched.filter(({ is_stopped }) => !is_stopped).length,
    ending: launched.length,
    launches: living.length - launched.length,
    launch_amounts: sumOf(paid.filter(({ is_ready }) => !is_ready)),
    unpaid_orders: unpaid.rows[0]?.count ?? 0,
    unused_amounts: sumOf(paid.filter(({ is_ready }) => is_ready)),
  };
}

async function livingOf(db: Db, userId: string) {
  const { rows } = await sql<{ is_ready: boolean; is_stopped: boolean }>`
    select created_at is not null as is_ready, status = 'stopped' and expires_at is null as is_stopped
    from environments where user_id = ${userId} and status <> 'terminated' and desired <> 'terminated'`.execute(db);
  return rows;
}

interface PaidRow {
  readonly currency: string;
  readonly is_ready: boolean;
  readonly left_minor: number;
  readonly unusedSeconds: number;
  readonly totalSeconds: number;
}

/** What is still paid of each purchase, with the time of its environment, as its end would count it (G108). */
async function paidOf(db: Db, userId: string): Promise<readonly PaidRow[]> {
  const { rows } = await sql<PaidRow>`
    select p.currency, e.created_at is not null as is_ready, p.amount_minor - p.refund_minor as left_minor,
      greatest(1, sum(o.hours) over (partition by e.id) * 3600)::float8 as "totalSeconds",
      greatest(0, floor(coalesce(extract(epoch from e.expires_at - now()), e.banked_seconds)))::float8 as "unusedSeconds"
    from environments e join orders o on o.id = e.order_id or o.extends = e.id
    join payments p on p.order_id = o.id and p.settles_order
    where e.user_id = ${userId} and e.status <> 'terminated' and e.desired <> 'terminated'
      and (o.status = 'fulfilled' or e.created_at is null)`.execute(db);
  return rows;
}

function sumOf(rows: readonly PaidRow[]): readonly Amount[] {
  const sums = new Map<string, number>();
  for (const { currency, left_minor, is_ready, ...usage } of rows)
    sums.set(currency, (sums.get(currency) ?? 0) + (is_ready ? prorate(left_minor, usage) : left_minor));
  return [...sums].map(([currency, minor]) => ({ currency, minor })).filter(({ minor }) => minor > 0);
}
