import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

const mostAtOnce = 10_000;

/**
 * Deletes unpaid orders 30 days after polling ended, so that a late capture still finds its order. Orders with any record of
 * money are never deleted; foreign keys enforce that too.
 */
export async function purgeOrders(db: Db): Promise<void> {
  await sql`
    delete from orders where id in (
      select id from orders o
      where status in ('cancelled', 'expired') and watch_until < now() - interval '30 days'
        and not exists (select from payments where order_id = o.id)
        and not exists (select from journal_lines where order_id = o.id)
        and not exists (select from environments where order_id = o.id)
        and not exists (select from time_credits where o.id in (order_id, used_by_order))
        and not exists (select from refund_requests where order_id = o.id)
        and not exists (select from queue_entries where order_id = o.id)
        and not exists (select from warm_runs where order_id = o.id)
      limit ${mostAtOnce})`.execute(db);
}

/** Deletes webhooks 30 days after they were processed: their facts are in payments and refunds. */
export async function purgeProviderEvents(db: Db): Promise<void> {
  await sql`
    delete from gateway_events where (gateway, event_id) in (
      select gateway, event_id from gateway_events where processed_at < now() - interval '30 days'
      limit ${mostAtOnce})`.execute(db);
}
