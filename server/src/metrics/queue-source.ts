import { type RawBuilder, sql } from "kysely";
import type { Provider } from "../payments/provider/provider.ts";
import type { DatabaseSource } from "./database-source.ts";

export interface WorkedQueues {
  readonly provider: Pick<Provider, "kind" | "mode" | "keyId">;
  /** Without a mail server nothing takes mails out of their queue. */
  readonly sendsMail: boolean;
  /** Whether a hosted provider keeps the accounts, and is notified of their ends. */
  readonly hasHostedAccounts: boolean;
}

/**
 * How far the workers are behind in each work queue (docs/internals/work-queue.md): rows that are due and not leased. Each
 * part repeats the condition of its worker, so that rows of other keys, which nobody works on, are no backlog.
 */
export function queueSource(worked: WorkedQueues): DatabaseSource {
  const parts = Object.entries(queuesOf(worked)).map(
    ([queue, { table, where }]) => sql`
      select ${queue}::text as queue, count(*)::float8 as due,
        coalesce(extract(epoch from now() - min(greatest(due_at, lease_expires_at))), 0)::float8 as oldest
      from ${sql.table(table)} where greatest(due_at, lease_expires_at) <= now() and ${where}`,
  );
  return {
    labels: ["queue"],
    gauges: {
      due: { name: "berth_queue_due_rows", help: "Rows of a work queue that are due and that no worker has." },
      oldest: { name: "berth_queue_oldest_due_seconds", help: "How long the oldest of those rows has been due." },
    },
    rows: sql`${sql.join(parts, sql` union all `)}`,
  };
}

interface Queue {
  readonly table: string;
  readonly where: RawBuilder<unknown>;
}

function queuesOf({ provider, sendsMail, hasHostedAccounts }: WorkedQueues): Readonly<Record<string, Queue>> {
  const { kind, mode, keyId } = provider;
  const ofMode = sql`gateway = ${kind} and mode = ${mode}`;
  return {
    environments: { table: "environments", where: sql`status <> 'terminated'` },
    warm_runs: { table: "warm_runs", where: sql`order_id is null` },
    orders_unpaid: { table: "orders", where: sql`status <> 'paid' and ${ofMode}` },
    orders_paid: { table: "orders", where: sql`status = 'paid' and ${ofMode}` },
    refunds: {
      table: "refunds",
      where: sql`status not in ('processed', 'waived') and exists (
        select from payments p join orders o on o.id = p.order_id
        where p.id = refunds.payment_id and o.gateway = ${kind} and o.mode = ${mode})`,
    },
    webhooks: { table: "gateway_events", where: sql`processed_at is null and gateway = ${kind}` },
    catalogue_changes: { table: "catalogue_changes", where: sql`due_at is not null` },
    payment_sweep: { table: "gateway_sweeps", where: sql`key_id = ${keyId}` },
    home_moves: { table: "home_moves", where: sql`true` },
    announcements: { table: "announcements", where: sql`due_at is not null` },
    ...(hasHostedAccounts && { hosted_changes: { table: "hosted_changes", where: sql`true` } }),
    ...(sendsMail && { mails: { table: "mails", where: sql`status = 'queued'` } }),
    ...(kind === "embedded" && { embedded_webhooks: { table: "embedded_gateway_webhooks", where: sql`true` } }),
  };
}
