import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import type { AuditWitness } from "./audit-witness.ts";
import { type ChainLink, verifyAudit } from "./read-audit.ts";

/**
 * Verifies the audit from the act on that was verified last, and the whole chain once a day (G149). Returns a sentence when
 * an act was changed or is missing. Writes down how far the chain is whole, sealed by the witness (G312); without one, what
 * an earlier look sealed is believed, and nothing is written over it.
 */
export async function checkAudit(db: Db, witness?: AuditWitness): Promise<string | undefined> {
  // The file first: what is in it was in the database before.
  const seen = witness?.lastSeen();
  const last = await lastCheck(db);
  const fault = witness && (await compareWitness(db, witness, { seen, last }));
  if (fault) return fault;
  if (last && !(await isInChain(db, last)))
    return `Act ${last.id}, which was whole at an earlier look, was changed or is missing, or acts from there on were cut off`;
  const isWhole = last === undefined || !last.is_recent;
  const { acts, head, broken } = await verifyAudit(db, undefined, isWhole ? undefined : last);
  if (broken !== undefined) return `Act ${broken} was changed or is missing; the ${acts} before it are whole`;
  if (acts === 0) return undefined;
  const link = { id: acts, hash: Buffer.from(head, "hex") };
  if (last?.id !== acts || isWhole || (witness && !last.seal)) await noteCheck(db, link, { isWhole, witness });
  if (witness && witness.lastSeen()?.id !== acts) witness.see(link);
  return undefined;
}

interface Known {
  /** Of the file. */
  readonly seen: ChainLink | undefined;
  readonly last: LastCheck | undefined;
}

interface LastCheck extends ChainLink {
  /** Whether the whole chain was verified within a day. */
  readonly is_recent: boolean;
  readonly seal: Buffer | null;
}

async function lastCheck(db: Db): Promise<LastCheck | undefined> {
  const { rows } = await sql<LastCheck>`
    select last_id as id, last_hash as hash, seal, whole_at > now() - interval '1 day' as is_recent
    from audit_checks`.execute(db);
  return rows[0];
}

/** A sentence where the database differs from what was known outside of it. The first look seals what was before. */
async function compareWitness(db: Db, witness: AuditWitness, { seen, last }: Known): Promise<string | undefined> {
  if (seen && !(await isInChain(db, seen)))
    return `Act ${seen.id}, whose hash the file audit-head of DATA_DIR has, was changed or is missing, or acts from there on were cut off`;
  const seal = last?.seal;
  if (last && seal && !witness.sealOf(last).equals(seal))
    return "The seal of an earlier look at the acts is not this installation's: somebody without its secret wrote it";
  if (seen && !seal) return "The seal of an earlier look at the acts was taken away";
  return undefined;
}

/** As `checkAudit` compares, for a command that verifies the chain by itself. */
export async function compareSeal(db: Db, witness: AuditWitness): Promise<string | undefined> {
  const seen = witness.lastSeen();
  return await compareWitness(db, witness, { seen, last: await lastCheck(db) });
}

async function isInChain(db: Db, { id, hash }: ChainLink): Promise<boolean> {
  const row = await db.selectFrom("audit").select("hash").where("id", "=", id).executeTakeFirst();
  return row?.hash.equals(hash) ?? false;
}

interface Noted {
  readonly isWhole: boolean;
  readonly witness: AuditWitness | undefined;
}

/** Two looks at once: the later act stays. Without a witness no seal is replaced. */
async function noteCheck(db: Db, link: ChainLink, { isWhole, witness }: Noted): Promise<void> {
  const { id, hash } = link;
  await sql`
    insert into audit_checks (last_id, last_hash, seal, whole_at)
    values (${id}, ${hash}, ${witness?.sealOf(link) ?? null}, now())
    on conflict (one) do update set last_id = excluded.last_id, last_hash = excluded.last_hash, seal = excluded.seal,
      whole_at = case when ${isWhole} then excluded.whole_at else audit_checks.whole_at end
    where audit_checks.last_id <= excluded.last_id
      and (audit_checks.seal is null or excluded.seal is not null)`.execute(db);
}
