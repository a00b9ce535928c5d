import { sql } from "kysely";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Environment } from "../environment.ts";
import { holdGrace, type Machine } from "../leases/gpu-leases.ts";
import { runIdOf } from "../run-id.ts";

export type WarmRun = RowOf<"warm_runs">;

export interface WarmRequest {
  readonly orderId: string;
  readonly userId: string;
  readonly subdomain: string;
  readonly gpuCount: number;
  readonly holdUntil: Date;
  /** A machine that is reserved for somebody else (queue/serve-queue.ts). */
  readonly exclude?: Machine | undefined;
}

/**
 * Reserves a ready run, with its GPUs, for an order of its type and count, and returns the host; none that could not be
 * observed last. A name that has files starts cold, because they cannot be put into a running container. The lock order is
 * hosts, warm runs, leases.
 */
export async function reserveWarmRun(tx: Tx, request: WarmRequest): Promise<string | undefined> {
  const { orderId, userId, subdomain, gpuCount, holdUntil, exclude } = request;
  const { rows } = await sql<{ id: string; host_id: string }>`
    select w.id, w.host_id from warm_runs w join orders o on o.id = ${orderId} and o.container_type = w.container_type
    join hosts h on h.id = w.host_id
    where w.state = 'ready' and w.order_id is null and w.attempts = 0 and cardinality(w.gpus) = ${gpuCount}
      and h.is_open and w.host_id is distinct from ${exclude?.hostId ?? null}
      and not exists (select from gpus where id = any(w.gpus) and quarantined_at is not null)
      and not exists (select from homes where user_id = ${userId} and subdomain = ${subdomain})
    order by w.created_at limit 1 for update of w skip locked`.execute(tx);
  const run = rows[0];
  if (!run) return undefined;
  await sql`update warm_runs set order_id = ${orderId} where id = ${run.id}`.execute(tx);
  await sql`
    update gpu_leases set holder_kind = 'order', holder_id = ${orderId}, hold_until = ${holdUntil}
    where holder_kind = 'pool' and holder_id = ${run.id} and released_at is null`.execute(tx);
  return run.host_id;
}

/** Returns the run of an order that ends unpaid to the pool, as it is. */
export async function returnWarmRun(tx: Tx, orderId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update warm_runs set order_id = null, due_at = now() where order_id = ${orderId} returning id`.execute(tx);
  for (const { id } of rows)
    await sql`
      update gpu_leases set holder_kind = 'pool', holder_id = ${id}, hold_until = null
      where holder_kind = 'order' and holder_id = ${orderId} and released_at is null`.execute(tx);
}

/** The same for orders whose hold lapsed: their GPUs can be leased to others by then. */
export async function returnLapsedWarmRuns(db: Db): Promise<void> {
  const { rows } = await sql<{ order_id: string }>`select order_id from warm_runs w where ${lapsed}`.execute(db);
  for (const { order_id: orderId } of rows)
    await db.transaction().execute(async (tx) => {
      await lockWarmRunOf(tx, orderId);
      const still = await sql`select from warm_runs w where order_id = ${orderId} and ${lapsed}`.execute(tx);
      if (still.rows.length > 0) await returnWarmRun(tx, orderId);
    });
}

const lapsed = sql`exists (
  select from gpu_leases where holder_kind = 'order' and holder_id = w.order_id and released_at is null
    and hold_until < now() - ${sql.lit(holdGrace)}::interval)`;

/** A hint of its driver: a ready run that has changed is looked at soon, because it may be handed out at any moment. */
export async function makeWarmRunDue(db: Db, id: string): Promise<void> {
  await sql`
    update warm_runs set due_at = now()
    where id = ${id} and state = 'ready' and order_id is null and lease_token is null`.execute(db);
}

/** Every transaction that changes the leases of an order locks its warm run first. */
export async function lockWarmRunOf(tx: Tx, orderId: string): Promise<void> {
  await sql`select 1 from warm_runs where order_id = ${orderId} for update`.execute(tx);
}

/**
 * The run of a paid order becomes its environment under the same id. Undefined where the order has none, or one whose id
 * has the first eight characters of another environment's, by which people refer to it.
 */
export async function takeWarmRun(tx: Tx, orderId: string): Promise<WarmRun | undefined> {
  const { rows } = await sql<WarmRun>`
    with taken as (
      delete from warm_runs w where order_id = ${orderId}
        and not exists (select from environments where left(id, 8) = left(w.id, 8)) returning *),
    ended as (
      update warm_runs set state = 'ending', order_id = null, due_at = now()
      where order_id = ${orderId} and not exists (select from taken))
    select * from taken`.execute(tx);
  return rows[0];
}

/**
 * Ends a run that its environment has left on a machine without a sign (G202), like a warm run: as soon as it can be, and
 * until then nothing starts on its GPUs. `home` is deleted with it; files that somebody has used are not the pool's to delete.
 */
export async function leaveRun(
  tx: Tx,
  row: Environment,
  gpus: readonly { readonly id: string }[],
  home: string = newId(),
): Promise<void> {
  await tx
    .insertInto("warm_runs")
    .values({
      id: runIdOf(row),
      host_id: row.host_id,
      container_type: row.container_type,
      gpus: gpus.map(({ id }) => id),
      home,
      run_token: row.run_token ?? "",
      state: "ending",
    })
    .execute();
}
