import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

const mostAtOnce = 10_000;

/**
 * Deletes orders that nobody paid, 30 days after the last time that money could come for them: a capture that is later
 * still finds its order until then. One with any trace of money stays for ever; the foreign keys see to it too.
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

/** Deletes webhooks 30 days after they were processed: payments and refunds hold what they were about. */
export async function purgeProviderEvents(db: Db): Promise<void> {
  await sql`
    delete from gateway_events where (gateway, event_id) in (
      select gateway, event_id from gateway_events where processed_at < now() - interval '30 days'
      limit ${mostAtOnce})`.execute(db);
}
