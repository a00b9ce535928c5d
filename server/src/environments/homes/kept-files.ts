import { createHash, randomBytes } from "node:crypto";
import type { listFiles, ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { notFound } from "../../http/mount.ts";
import { isEnvironmentId } from "../environment.ts";
import type { Owned } from "../lock-owned.ts";
import { reserveForDeletion } from "./apply-retention.ts";

type Files = ReplyOf<typeof listFiles>["files"][number];

const linkSeconds = 60;

/**
 * Files without a running environment, and those that a fresh start left, but no missing ones of an ended environment: first those
 * without an end, then by their end.
 */
export async function keptFilesOf(db: Db, userId: string): Promise<Files[]> {
  const { rows } = await sql<Omit<Files, "files_until"> & { files_until: Date | null }>`
    select e.id as environment_id, case when h.left_by is not null then h.id end as former_id, h.subdomain, e.container_type, e.gpu_count, e.duration_hours, h.size_mb,
      h.delete_at as files_until, case when e.status = 'stopped' and h.left_by is null then e.banked_seconds else 0 end as banked_seconds
    from homes h cross join lateral (
      select * from environments where id = h.left_by or (home = h.home and host_id = h.host_id)
      order by requested_at desc, id limit 1) e
    where h.user_id = ${userId} and h.used_at is not null
      and ((h.delete_at > now() and h.missing_since is null) or (h.delete_at is null and (h.left_by is not null or e.status = 'stopped')))
    order by h.delete_at nulls first, h.subdomain`.execute(db);
  return rows.map((row) => ({ ...row, files_until: row.files_until?.toISOString() ?? null }));
}

/** The next pass deletes the files; a second call succeeds too. The name stays its owner's (G301). */
export async function deleteFilesNow(db: Db, owned: Owned, confirm: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { home_id, subdomain, is_former } = await ownedHome(tx, owned);
    if (confirm !== subdomain) throw new AppError("invalid_request", "Type the environment's name to confirm");
    if (!is_former) await reserveForDeletion(tx, { subdomain, user_id: owned.userId });
    const { rows } = await sql<{ delete_at: Date | null }>`
      update homes set told_at = now(),
        delete_at = case when delete_at is null and left_by is null then null else least(delete_at, now()) end
      where id = ${home_id} returning delete_at`.execute(tx);
    if (rows[0]?.delete_at === null)
      throw new AppError("action_not_allowed", `${subdomain} still uses these files. Terminate it first`);
  });
}

/** Creates a code for one download; only its hash is stored. */
export async function createArchiveCode(db: Db, owned: Owned): Promise<{ code: string; expiresAt: Date }> {
  const files = await ownedHome(db, owned);
  if (!files.is_kept) throw notFound();
  if (files.missing_since)
    throw new AppError(
      "unavailable",
      "These files are not there at the moment. Whoever runs this service has been told; nothing was deleted by it.",
      { retryAfterSeconds: 600 },
    );
  await sql`delete from archive_codes where expires_at <= now()`.execute(db);
  const code = randomBytes(32).toString("base64url");
  const { rows: created } = await sql<{ expiresAt: Date }>`
    insert into archive_codes (hash, user_id, environment_id, home_id, expires_at)
    values (${hashOf(code)}, ${owned.userId}, ${files.environment_id}, ${files.home_id}, now() + make_interval(secs => ${linkSeconds}))
    returning expires_at as "expiresAt"`.execute(db);
  return { code, expiresAt: (created[0] as { expiresAt: Date }).expiresAt };
}

/** Uses a code up and returns whose files it opens; undefined for a used, expired or unknown one. */
export async function useArchiveCode(db: Db, code: string) {
  const { rows } = await sql<{ user_id: string; home: string; host_id: string; subdomain: string }>`
    with used as (delete from archive_codes where hash = ${hashOf(code)} returning *)
    select used.user_id, h.home, h.host_id, e.subdomain
    from used join environments e on e.id = used.environment_id
    join homes h on h.id = used.home_id or (used.home_id is null and h.home = e.home and h.host_id = e.host_id)
    where used.expires_at > now()`.execute(db);
  return rows[0];
}

function hashOf(code: string): Buffer {
  return createHash("sha256").update(code).digest();
}

interface OwnedHome {
  readonly environment_id: string;
  readonly subdomain: string;
  /** Null once they are deleted. */
  readonly home_id: string | null;
  /** A fresh start left them. */
  readonly is_former: boolean;
  /** Whether there is something to download. */
  readonly is_kept: boolean;
  readonly missing_since: Date | null;
}

/** The files of an environment or, by their own id, those that a fresh start left (G203). */
async function ownedHome(db: Db | Tx, { id, userId }: Owned): Promise<OwnedHome> {
  if (!isEnvironmentId(id)) throw notFound();
  const { rows } = await sql<OwnedHome>`
    select e.id as environment_id, e.subdomain, h.id as home_id, h.left_by is not null as is_former,
      h.used_at is not null and (h.delete_at is null or h.delete_at > now()) as is_kept, h.missing_since
    from environments e left join homes h
      on (e.id = ${id} and h.home = e.home and h.host_id = e.host_id) or (h.id = ${id} and h.left_by = e.id)
    where e.user_id = ${userId} and (e.id = ${id} or h.id = ${id})`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0];
}
