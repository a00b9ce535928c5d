import { createHash, randomBytes } from "node:crypto";
import type { listFiles, ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { notFound } from "../../http/mount.ts";
import { type Environment, isEnvironmentId } from "../environment.ts";
import type { Owned } from "../lock-owned.ts";
import { reserveForDeletion } from "./apply-retention.ts";

type Files = ReplyOf<typeof listFiles>["files"][number];

const linkSeconds = 60;

/** Files without a running environment: first those without an end, then by their end. */
export async function keptFilesOf(db: Db, userId: string): Promise<Files[]> {
  const { rows } = await sql<Omit<Files, "files_until"> & { files_until: Date | null }>`
    select e.id as environment_id, h.subdomain, e.container_type, e.gpu_count, e.duration_hours, h.size_mb,
      h.delete_at as files_until, case when e.status = 'stopped' then e.banked_seconds else 0 end as banked_seconds
    from homes h cross join lateral (
      select * from environments where home = h.home and host_id = h.host_id order by requested_at desc, id limit 1) e
    where h.user_id = ${userId} and h.used_at is not null
      and (h.delete_at > now() or (h.delete_at is null and e.status = 'stopped'))
    order by h.delete_at nulls first, h.subdomain`.execute(db);
  return rows.map((row) => ({ ...row, files_until: row.files_until?.toISOString() ?? null }));
}

/** The next pass deletes the files; a second call succeeds too. The name becomes free with them. */
export async function deleteFilesNow(db: Db, owned: Owned, confirm: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { id, subdomain } = await ownedEnvironment(tx, owned);
    if (confirm !== subdomain) throw new AppError("invalid_request", "Type the environment's name to confirm");
    await reserveForDeletion(tx, { subdomain, user_id: owned.userId });
    const { rows } = await sql<{ delete_at: Date | null }>`
      update homes set told_at = now(), delete_at = case when delete_at is null then null else least(delete_at, now()) end
      where id = (
        select h.id from homes h join environments e on h.home = e.home and h.host_id = e.host_id where e.id = ${id})
      returning delete_at`.execute(tx);
    if (rows[0]?.delete_at === null)
      throw new AppError("action_not_allowed", `${subdomain} still uses these files. Terminate it first`);
  });
}

/** Creates a code for one download; only its hash is stored. */
export async function createArchiveCode(db: Db, owned: Owned): Promise<{ code: string; expiresAt: Date }> {
  const environment = await ownedEnvironment(db, owned);
  const { rows } = await sql<{ missing_since: Date | null }>`
    select missing_since from homes
    where home = ${environment.home} and host_id = ${environment.host_id} and used_at is not null
      and (delete_at is null or delete_at > now())`.execute(db);
  const files = rows[0];
  if (!files) throw notFound();
  if (files.missing_since)
    throw new AppError(
      "unavailable",
      "These files are not there at the moment. Whoever runs this service has been told; nothing was deleted by it.",
      { retryAfterSeconds: 600 },
    );
  await sql`delete from archive_codes where expires_at <= now()`.execute(db);
  const code = randomBytes(32).toString("base64url");
  const { rows: created } = await sql<{ expiresAt: Date }>`
    insert into archive_codes (hash, user_id, environment_id, expires_at)
    values (${hashOf(code)}, ${owned.userId}, ${owned.id}, now() + make_interval(secs => ${linkSeconds}))
    returning expires_at as "expiresAt"`.execute(db);
  return { code, expiresAt: (created[0] as { expiresAt: Date }).expiresAt };
}

/** Uses a code up and returns whose files it opens; undefined for a used, expired or unknown one. */
export async function useArchiveCode(db: Db, code: string) {
  const { rows } = await sql<{ user_id: string; home: string; host_id: string; subdomain: string }>`
    with used as (delete from archive_codes where hash = ${hashOf(code)} returning *)
    select used.user_id, e.home, e.host_id, e.subdomain
    from used join environments e on e.id = used.environment_id where used.expires_at > now()`.execute(db);
  return rows[0];
}

function hashOf(code: string): Buffer {
  return createHash("sha256").update(code).digest();
}

async function ownedEnvironment(db: Db | Tx, { id, userId }: Owned) {
  if (!isEnvironmentId(id)) throw notFound();
  const { rows } = await sql<Environment>`
    select * from environments where id = ${id} and user_id = ${userId}`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0];
}
