import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";

export interface MiningFinding {
  readonly id: string;
  readonly environment_id: string;
  readonly subdomain: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly kind: "program" | "pool" | "gpu";
  readonly evidence: { readonly what: string; readonly commands: readonly string[] };
  readonly found_at: Date;
  readonly seen_at: Date;
  readonly state: "open" | "ended" | "dismissed";
}

const listLength = 500;

interface Wanted {
  /** Those that ended or were dismissed too. */
  readonly all?: boolean;
  /** Of one environment alone. */
  readonly environmentId?: string;
}

/** Returns findings that wait for a person, or all that are kept, newest first. */
export async function readFindings(
  db: Db,
  { all = false, environmentId }: Wanted = {},
): Promise<readonly MiningFinding[]> {
  const { rows } = await sql<MiningFinding>`
    select * from (
      select f.id, f.environment_id, e.subdomain, f.user_id, p.email, f.kind, f.evidence, f.found_at, f.seen_at,
        case when f.dismissed_at is not null then 'dismissed'
          when e.status = 'terminated' or e.desired = 'terminated' then 'ended' else 'open' end as state
      from mining_findings f join environments e on e.id = f.environment_id
      left join profiles p on p.user_id = f.user_id) found
    where (${all} or state = 'open') and (${environmentId ?? null}::text is null or environment_id = ${environmentId ?? null})
    order by found_at desc, id limit ${listLength}`.execute(db);
  return rows;
}

/** A person has looked, and it is no mining: not found again in that run. Returns false when it was dismissed before. */
export async function dismissFinding(db: Db, id: string, author: Author): Promise<boolean> {
  requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const found = await tx
      .selectFrom("mining_findings")
      .selectAll()
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (!found) throw new AppError("not_found", `There is no finding ${id}; mining lists them`);
    if (found.dismissed_at !== null) return false;
    await tx.updateTable("mining_findings").set({ dismissed_at: sql`now()` }).where("id", "=", id).execute();
    await recordAct(tx, author, "mining.dismiss", found.environment_id, { finding: id, kind: found.kind });
    return true;
  });
}
