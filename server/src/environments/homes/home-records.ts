import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Place } from "../leases/gpu-leases.ts";

interface Home {
  readonly home: string;
  readonly host_id: string;
}

interface Owner {
  readonly user_id: string;
  readonly subdomain: string;
}

/** Records the home of a new environment: a new folder, or the kept one of its name, which is then not deleted (G31). */
export async function openHome(tx: Tx, home: Home & Owner): Promise<void> {
  await tx
    .insertInto("homes")
    .values({ id: newId(), ...home })
    .onConflict((conflict) =>
      conflict.columns(["home", "host_id"]).doUpdateSet({ delete_at: null, told_at: null, size_mb: null }),
    )
    .execute();
}

/** JupyterLab is ready: from now on the home may have files to keep, and they are not missing. */
export async function markHomeUsed(tx: Tx, { home, host_id }: Home): Promise<void> {
  await sql`
    update homes set used_at = coalesce(used_at, now()), missing_since = null
    where home = ${home} and host_id = ${host_id} and (used_at is null or missing_since is not null)`.execute(tx);
}

/** The homes of a host that should have files (G111); the fake driver has none. */
export async function usedHomes(db: Sql, hostId: string): Promise<readonly string[]> {
  const { rows } = await sql<Home>`
    select home, host_id from homes join hosts on hosts.id = host_id
    where host_id = ${hostId} and hosts.kind <> 'fake' and used_at is not null`.execute(db);
  return rows.map(({ home }) => home);
}

/** Where the files of an environment are: on its host, and on the node that their volume is bound to (G181). */
export async function placeOf(db: Sql, { home, host_id: hostId }: Home): Promise<Place> {
  const { rows } = await sql<{ node: string | null }>`
    select node from homes where home = ${home} and host_id = ${hostId}`.execute(db);
  return { hostId, node: rows[0]?.node ?? null };
}

/** A run has ended, so its size has changed; `applyRetention` measures it again. */
export async function remeasureHome(tx: Tx, { home, host_id }: Home): Promise<void> {
  await sql`update homes set size_mb = null where home = ${home} and host_id = ${host_id}`.execute(tx);
}

/**
 * At the end of an environment its files and its name are kept for so many days (G31), which are returned: 0
 * for files that are missing. Nothing is kept of one that was never ready or of a deleted account (G71, G75): the files go next.
 */
export async function closeHome(
  tx: Tx,
  { home, host_id, order_id, user_id }: Home & { readonly order_id: string; readonly user_id: string },
  retentionDays: number,
): Promise<number> {
  const keepsFiles = (await isUsed(tx, { home, host_id })) && !(await isAccountDeleted(tx, user_id));
  const days = keepsFiles ? retentionDays : 0;
  const until = sql<Date>`now() + make_interval(days => ${days})`;
  if (keepsFiles)
    await sql`
      update subdomain_claims set order_id = null, held_until = null, retained_until = ${until}
      where order_id = ${order_id}`.execute(tx);
  else await sql`delete from subdomain_claims where order_id = ${order_id}`.execute(tx);
  const { rows } = await sql<{ is_missing: boolean }>`
    update homes set delete_at = ${until}, told_at = case when ${keepsFiles} then null else now() end, size_mb = null
    where home = ${home} and host_id = ${host_id} returning missing_since is not null as is_missing`.execute(tx);
  return rows[0]?.is_missing ? 0 : days;
}

async function isUsed(tx: Tx, { home, host_id }: Home): Promise<boolean> {
  const { rows } = await sql`
    select from homes where home = ${home} and host_id = ${host_id} and used_at is not null`.execute(tx);
  return rows.length > 0;
}

/** Whether this user has deleted their account. */
export async function isAccountDeleted(db: Sql, userId: string): Promise<boolean> {
  const { rows } = await sql`select from deleted_accounts where user_id = ${userId}`.execute(db);
  return rows.length > 0;
}

/** Makes all kept files of a user due and ends the retention of their names (G71). Names are locked before homes, as everywhere. */
export async function releaseHomes(tx: Tx, userId: string): Promise<void> {
  await sql`
    update subdomain_claims set retained_until = now() where user_id = ${userId} and order_id is null`.execute(tx);
  await sql`
    update homes set delete_at = now(), told_at = now() where user_id = ${userId}
      and (delete_at is not null or left_by is not null)`.execute(tx);
}
