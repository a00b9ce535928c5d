import { sql } from "kysely";
import type { Db, RowOf, Tx } from "../../database/database.ts";

type Home = Pick<RowOf<"homes">, "id" | "home" | "host_id" | "user_id" | "subdomain" | "left_by">;

/**
 * Queues the homes of hosts that an operator empties (G195): those of stopped environments, and the kept files of ended
 * ones. What runs follows at a later pass, when it is stopped or has ended.
 */
export async function requestMoves(db: Db): Promise<void> {
  const { rows } = await sql<Home>`
    select h.id, h.home, h.host_id, h.user_id, h.subdomain, h.left_by from homes h join hosts on hosts.id = h.host_id
    where hosts.moving_since is not null and away_since is null and lost_at is null and removed_at is null
      and not exists (select from home_moves where id = h.id)
      and (h.delete_at > now() or exists (
        select from environments e where e.home = h.home and e.host_id = h.host_id and ${isStopped}))
    order by h.id limit 100`.execute(db);
  for (const home of rows) await db.transaction().execute((tx) => requestMove(tx, home));
}

/** At rest, without a start that was taken back and is still being undone. */
const isStopped = sql`e.status = 'stopped' and e.desired = 'stopped' and e.stage is null and e.run_token is null`;

/** The environment or, where it has ended, the name is locked: a start and a launch look for a move under the same lock. */
async function requestMove(tx: Tx, { id, home, host_id, user_id, subdomain, left_by }: Home): Promise<void> {
  const { rows: live } = await sql<{ stopped: boolean }>`
    select ${isStopped} as stopped from environments e
    where home = ${home} and host_id = ${host_id} and status <> 'terminated' for update`.execute(tx);
  const isFree = live[0] ? live[0].stopped : left_by !== null || (await isKept(tx, subdomain, user_id));
  if (!isFree) return;
  await sql`
    insert into home_moves (id, user_id, from_host, from_home)
    select id, user_id, host_id, home from homes where id = ${id} and home = ${home} and host_id = ${host_id}
      and (delete_at is null or delete_at > now())
    on conflict do nothing`.execute(tx);
}

/** No order holds the name, and the files are not being deleted. */
async function isKept(tx: Tx, subdomain: string, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from subdomain_claims where name = ${subdomain} and user_id = ${userId} and order_id is null
      and retained_until > now() for update`.execute(tx);
  return rows.length > 0;
}

/** Takes back what is not there yet; the next pass deletes what was copied. Returns how many. The host is locked. */
export async function cancelMoves(tx: Tx, hostId: string): Promise<number> {
  const { rows } = await sql`
    with open as (
      select id from home_moves where from_host = ${hostId} and moved_at is null and cancelled_at is null
      order by id for update)
    update home_moves m set cancelled_at = now(), due_at = now() from open where m.id = open.id returning m.id`.execute(
    tx,
  );
  return rows.length;
}
