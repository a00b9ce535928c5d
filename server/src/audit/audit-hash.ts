import { createHash } from "node:crypto";
import type { RowOf } from "../database/database.ts";

export type AuditRow = RowOf<"audit">;

/** Hash before the first row. */
export const noHash = Buffer.alloc(32);

/** SHA-256 of the former row's hash and of this row's content as JSON, with the keys of the details sorted (docs/operate/audit.md). */
export function auditHash(former: Buffer, row: Omit<AuditRow, "hash">): Buffer {
  const { id, at, actor, act, subject_kind, subject_id, reason } = row;
  const details = Object.entries(row.details).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = JSON.stringify([id, at.toISOString(), actor, act, subject_kind, subject_id, reason, details]);
  return createHash("sha256").update(former).update(content).digest();
}
