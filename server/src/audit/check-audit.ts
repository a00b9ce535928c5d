import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { type ChainLink, verifyAudit } from "./read-audit.ts";

/**
 * Verifies the audit from the act on that was verified last, and the whole chain once a day (G149). Returns a sentence when
 * an act was changed or is missing. Writes down how far the chain is whole.
 */
export async function checkAudit(db: Db): Promise<string | undefined> {
  const last = await lastCheck(db);
  if (last && !(await isInChain(db, last)))
    return `Act ${last.id}, which was whole at an earlier look, was changed or is missing, or acts from there on were cut off`;
  const isWhole = last === undefined || !last.is_recent;
  const { acts, head, broken } = await verifyAudit(db, undefined, isWhole ? undefined : last);
  if (broken !== undefined) return `Act ${broken} was changed or is missing; the ${acts} before it are whole`;
  if (acts > 0) await noteCheck(db, { id: acts, hash: Buffer.from(head, "hex") }, isWhole);
  return undefined;
}

interface LastCheck extends ChainLink {
  /** Whether the whole chain was verified within a day. */
  readonly is_recent: boolean;
}

async function lastCheck(db: Db): Promise<LastCheck | undefined> {
  const { rows } = await sql<LastCheck>`
    select last_id as id, last_hash as hash, whole_at > now() - interval '1 day' as is_recent from audit_checks`.execute(
    db,
  );
  return rows[0];
}

async function isInChain(db: Db, { id, hash }: ChainLink): Promise<boolean> {
  const row = await db.selectFrom("audit").select("hash").where("id", "=", id).executeTakeFirst();
  return row?.hash.equals(hash) ?? false;
}

/** Two looks at once: the later act stays. */
async function noteCheck(db: Db, { id, hash }: ChainLink, isWhole: boolean): Promise<void> {
  await sql`
    insert into audit_checks (last_id, last_hash, whole_at) values (${id}, ${hash}, now())
    on conflict (one) do update set last_id = excluded.last_id, last_hash = excluded.last_hash,
      whole_at = case when ${isWhole} then excluded.whole_at else audit_checks.whole_at end
    where audit_checks.last_id <= excluded.last_id`.execute(db);
}
