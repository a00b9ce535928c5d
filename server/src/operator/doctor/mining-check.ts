import type { Db } from "../../database/database.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { oneLine } from "../print-rows.ts";
import { readFindings } from "../rentals/mining-findings.ts";
import type { Check } from "./run-checks.ts";

/** Environments that look like mining and wait for a person (G69, G157). */
export function miningCheck(db: Db): Check {
  return {
    kind: "mining_suspected",
    what: "Environments that look like crypto mining",
    remedy: `${operatorCommand("mining")} shows why; then environments terminate ENVIRONMENT --no-refund, or mining dismiss FINDING`,
    run: async () =>
      (await readFindings(db)).map(
        ({ environment_id, subdomain, email, user_id, evidence }) =>
          `${environment_id} ${subdomain} of ${email ?? user_id}: ${oneLine(evidence.what)}`,
      ),
  };
}
