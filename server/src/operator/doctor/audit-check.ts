import type { AuditWitness } from "../../audit/audit-witness.ts";
import { checkAudit } from "../../audit/check-audit.ts";
import type { Db } from "../../database/database.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import type { Check } from "./run-checks.ts";

/** Whether the chain of what operators did is whole (G118, G149, G312). */
export function auditCheck(db: Db, witness: AuditWitness | undefined): Check {
  return {
    kind: "audit_broken",
    what: "Acts of operators that were changed or are missing",
    remedy: `${operatorCommand("audit verify")} computes the whole chain; compare it with a backup, and look who may write to the database`,
    run: async () => [await checkAudit(db, witness)].filter((sentence) => sentence !== undefined),
  };
}
