import { sql } from "kysely";
import type { Db } from "../server/src/database/database.ts";

interface Wanted {
  /** Total, over two years. */
  readonly orders: number;
  readonly users: number;
  readonly accounts: readonly { readonly userId: string; readonly orders: number }[];
}

const tables = ["orders", "payments", "environments", "sessions"] as const;

/** Settings for a bulk load without durability; effective from the next start. */
export async function tune(db: Db): Promise<void> {
  const settings = {
    ...{ wal_level: "minimal", max_wal_senders: "0", max_wal_size: "16GB", checkpoint_timeout: "1h" },
    ...{ shared_buffers: "1GB", maintenance_work_mem: "512MB", autovacuum: "off" },
  };
  for (const [name, value] of Object.entries(settings))
    await sql.raw(`alter system set ${name} = '${value}'`).execute(db);
}

/**
 * Inserts orders by time, users mixed, each with its payment; environments and sessions for all orders of the measured
 * accounts and a tenth of the others. Indexes without a constraint are rebuilt at the end.
 */
export async function seedAccounts(db: Db, wanted: Wanted): Promise<void> {
  const began = Date.now();
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`set synchronous_commit = off`.execute(connection);
    const indexes = await dropIndexes(connection);
    for (const statement of fill(wanted)) await sql.raw(statement).execute(connection);
    for (const definition of indexes) await sql.raw(definition).execute(connection);
    for (const table of tables) await sql.raw(`vacuum (analyze) ${table}`).execute(connection);
    await sql`set session_replication_role = origin`.execute(connection);
  });
  const { rows } = await sql<{
    size: string;
  }>`select pg_size_pretty(pg_database_size(current_database())) as size`.execute(db);
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`${wanted.orders} orders of ${wanted.users} users: ${rows[0]?.size}, seeded in ${seconds} s`);
}

async function dropIndexes(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = any(array['orders', 'payments', 'environments', 'sessions']::regclass[])
      and not exists (select 1 from pg_constraint where conindid = i.indexrelid)`.execute(db);
  for (const { name } of rows) await sql.raw(`drop index ${name}`).execute(db);
  return rows.map(({ definition }) => definition);
}

/** Ascending ids, because random ones touch a page of the index each. */
const id = (suffix: string) => `lpad(n::text, 8, '0') || '${suffix}' || substr(md5(n::text), 1, 16)`;

function fill({ orders, users, accounts }: Wanted): readonly string[] {
  // An account's orders are spread out: at most one per block.
  const largest = Math.max(...accounts.map((account) => account.orders));
  const block = orders / largest;
  const own = accounts.map((account, index) => {
    const every = Math.floor(largest / account.orders);
    const place = `n / ${block} % ${every} = 0 and n / ${block} < ${every * account.orders}`;
    return { ...account, when: `(n % ${block} = ${index} and ${place})` };
  });
  const owner = own.map(({ when, userId }) => `when ${when} then '${userId}'`).join(" ");
  const isRead = own.map(({ when }) => when).join(" or ");
  const rows = `(select n, case ${owner} else 'user-' || n::bigint * 7919 % ${users} end as user_id,
      now() - interval '2 years' * (1 - (n + 1)::float8 / ${orders}) - interval '1 hour' as at,
      (array['jupyter', 'pytorch', 'tensorflow'])[1 + n % 3] as type, (array[1, 6, 24])[1 + n % 3] as hours,
      ${isRead} as is_read
    from generate_series(0, ${orders - 1}) n) rows`;
  return [
    `insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
       currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, created_at, hold_until, watch_until, paid_at,
       closed_at, usd_net_minor, hours)
     select ${id("o")}, user_id, 'fulfilled', type, 'lab-' || n, 1, hours, 20 * hours, 20 * hours, 'USD', 8822, 'embedded', 'embedded',
       'order_' || lpad(n::text, 14, '0'), md5(n::text), at, at, at, at, at, 20 * hours, hours from ${rows}`,
    `insert into payments (id, order_id, user_id, gateway, gateway_payment_id, status, settles_order, amount_minor, currency,
       method, card_network, card_last4, created_at, captured_at)
     select ${id("p")}, ${id("o")}, user_id, 'embedded', 'pay_' || lpad(n::text, 14, '0'), 'captured', true, 20 * hours, 'USD',
       'card', 'MasterCard', '4444', at, at from ${rows}`,
    `insert into environments (id, order_id, user_id, container_type, subdomain, gpu_count, duration_hours, host_id, home, desired,
       status, secret, requested_at, give_up_at, created_at, expires_at, terminated_at, ended_reason, due_at)
     select ${id("e")}, ${id("o")}, user_id, type, 'lab-' || n, 1, hours, 'local', md5(n::text), 'terminated', 'terminated',
       md5(n::text), at, at, at, at, at, 'expired', at from ${rows} where is_read or n % 10 = 7`,
    `insert into sessions (id, environment_id, user_id, container_type, opened_at, closed_at, reason)
     select ${id("s")}, ${id("e")}, user_id, type, at, at + make_interval(hours => hours), 'expired' from ${rows} where is_read or n % 10 = 7`,
  ];
}

/** Makes `count` of the newest orders due for the poller now, and nine times as many later. */
export async function seedDue(db: Db, count: number): Promise<void> {
  await sql`
    update orders set watch_until = now() + interval '5 days', due_at = case
      when o.place <= ${count} then now() - make_interval(secs => o.place) else now() + make_interval(days => 2, secs => o.place) end
    from (select id, row_number() over (order by id desc) as place from orders order by id desc limit ${count * 10}) o
    where o.id = orders.id`.execute(db);
  await sql`vacuum (analyze) orders`.execute(db);
}
