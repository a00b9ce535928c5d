import { maxSessionHours } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";

/** Opens a session unless one is open: a run that ended by itself and was restarted is still the same session. */
export async function openSession(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    insert into sessions (id, environment_id, user_id, container_type)
    select ${newId()}, id, user_id, container_type from environments where id = ${environmentId}
    on conflict (environment_id) where closed_at is null do nothing`.execute(tx);
}

export async function closeSession(tx: Tx, environmentId: string, reason: string): Promise<void> {
  await sql`
    update sessions set closed_at = now(), reason = ${reason}
    where environment_id = ${environmentId} and closed_at is null`.execute(tx);
}

/** After 168 h closes a session and opens the next in one statement; the container is not touched (G22). */
export async function rollSession(db: Db, environmentId: string): Promise<boolean> {
  const { rows } = await sql`
    with full_length as (
      update sessions set closed_at = now(), reason = 'rollover'
      where environment_id = ${environmentId} and closed_at is null
        and opened_at <= now() - make_interval(hours => ${maxSessionHours}) returning *)
    insert into sessions (id, environment_id, user_id, container_type)
    select ${newId()}, environment_id, user_id, container_type from full_length returning id`.execute(db);
  return rows.length > 0;
}
