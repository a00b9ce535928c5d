import type { AuditedAct } from "@berth/contract/console/audit";
import type { AuditRow } from "../../audit/audit-hash.ts";

/** A row of the audit on the wire. */
export function auditedAct({
  id: no,
  at,
  actor,
  act,
  subject_id,
  reason,
  details,
}: Omit<AuditRow, "hash">): AuditedAct {
  return {
    ...{ no, at: at.toISOString(), actor, act, subject: subject_id, reason },
    details: details as AuditedAct["details"],
  };
}
