import { sql } from "kysely";
import type { Db } from "../server/src/database/database.ts";

/** Environments of one GPU each, all of them on one host. */
export const fleet = 1000;

/** Inserts environments as settling does, without payments: as many as the host has GPUs. */
export async function rentFleet(db: Db, count = fleet): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`
      insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
        currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at, due_at)
      select 'order-' || n, 'user-' || n, 'paid', 'jupyter', 'fleet-' || n, 1, 24, 20, 20, 'USD', 8822, 'embedded', 'embedded',
        'fleet-' || n, '', now(), now(), now(), now() + interval '1 day' from generate_series(1, ${count}) n`.execute(
      tx,
    );
    await sql`
      insert into environments (id, order_id, user_id, container_type, subdomain, gpu_count, duration_hours, host_id, home, secret,
        stage, give_up_at)
      select left(md5(n::text), 25), 'order-' || n, 'user-' || n, 'jupyter', 'fleet-' || n, 1, 24, 'local', 'fleet-' || n, md5('s' || n),
        'placed', now() + interval '1 hour' from generate_series(1, ${count}) n`.execute(tx);
    await sql`
      insert into gpu_leases (id, gpu_id, holder_kind, holder_id)
      select 'lease-' || n, g.id, 'environment', e.id
      from (select id, row_number() over (order by id) as n from environments) e
      join (select id, row_number() over (order by id) as n from gpus where kind = 'gpu') g using (n)`.execute(tx);
    await sql`
      insert into subdomain_claims (name, user_id, order_id) select subdomain, user_id, order_id from environments`.execute(
      tx,
    );
    await sql`
      insert into launch_stages (environment_id, generation, stage)
      select id, 1, reached.stage from environments, unnest(array['ordered', 'paid']) as reached (stage)`.execute(tx);
  });
}

export async function counted(db: Db, condition: string): Promise<number> {
  const { rows } = await sql<{
    n: number;
  }>`select count(*)::int as n from environments where ${sql.raw(condition)}`.execute(db);
  return rows[0]?.n ?? 0;
}
