import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { type AuditRow, auditHash, noHash } from "./audit-hash.ts";

interface Filter {
  readonly since?: Date | undefined;
  /** Id of what acts are about; also the address of an account, the name of environments, or the code of a ticket. */
  readonly subject?: string | undefined;
  readonly limit: number;
}

/** Returns acts, newest first. */
export async function readAudit(db: Db, { since, subject, limit }: Filter): Promise<readonly AuditRow[]> {
  return await db
    .selectFrom("audit")
    .selectAll()
    .$if(since !== undefined, (query) => query.where("at", ">=", since as Date))
    .$if(subject !== undefined, (query) => query.where(isAbout(String(subject))))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

const isAbout = (subject: string) => sql<boolean>`
  subject_id = any(array(select ${subject} union select id from environments where subdomain = ${subject}
    union select id from support_tickets where code = ${subject}
    union select user_id from profiles where lower(email) = lower(${subject})))`;

export interface Verified {
  /** Rows whose chain holds. */
  readonly acts: number;
  /** Hash of the last of them, in hex: noted elsewhere, it shows later that no row was cut off. */
  readonly head: string;
  /** Number of the first row that was changed, or is missing. */
  readonly broken?: number;
  /** Whether the hash that was noted earlier is still in the chain. */
  readonly found?: boolean;
}

const pageLength = 1000;

/** A row of the chain. */
export interface ChainLink {
  readonly id: number;
  readonly hash: Buffer;
}

/**
 * Computes the chain again (G118), all of it or from after the row `from`; `noted` is a head of an earlier time, in hex.
 */
export async function verifyAudit(
  db: Db,
  noted?: string,
  from: ChainLink = { id: 0, hash: noHash },
): Promise<Verified> {
  let former: Buffer = from.hash;
  let acts = from.id;
  let found = false;
  const result = () => ({ acts, head: former.toString("hex"), ...(noted !== undefined && { found }) });
  for (;;) {
    const page = await db
      .selectFrom("audit")
      .selectAll()
      .where("id", ">", acts)
      .orderBy("id")
      .limit(pageLength)
      .execute();
    for (const row of page) {
      if (row.id !== acts + 1 || !auditHash(former, row).equals(row.hash)) return { ...result(), broken: acts + 1 };
      acts += 1;
      former = row.hash;
      found ||= former.toString("hex") === noted;
    }
    if (page.length < pageLength) return result();
  }
}
