import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { AuditWitness } from "../../audit/audit-witness.ts";
import { checkAudit } from "../../audit/check-audit.ts";
import type { Db } from "../../database/database.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { enqueueMail } from "../../mail/outbox.ts";
import { renderEmail } from "../../mail/render-email.ts";
import { operatorCommand } from "../../text/operator-command.ts";

export interface AuditWatchDeps {
  readonly db: Db;
  readonly witness: AuditWitness;
  readonly brandName: string;
  /** Where the daily mail goes; undefined: the log alone has the head. */
  readonly to: string | undefined;
  readonly log: Logger;
}

const intervalMs = 60_000;

/** Seals what operators did every minute, and brings the newest hash out of the database daily (G312). */
export function startAuditWatch(deps: AuditWatchDeps): Loop {
  const { log } = deps;
  const work = async () => {
    await watchAudit(deps);
    return intervalMs;
  };
  return startInterval({ name: "audit", work, intervalMs, log });
}

/** One pass. A chain that does not hold is logged each time, and no hash of it leaves. */
export async function watchAudit(deps: AuditWatchDeps): Promise<void> {
  const fault = await checkAudit(deps.db, deps.witness);
  if (fault) return deps.log.error({ event: "audit.broken" }, fault);
  await sendHead(deps);
}

/** Once a day in the whole installation, where there are new acts. */
async function sendHead({ db, brandName, to, log }: AuditWatchDeps): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ acts: number; hash: Buffer }>`
      update audit_checks set sent_id = last_id, sent_at = now()
      where sent_id is distinct from last_id and (sent_at is null or sent_at < now() - interval '1 day')
      returning last_id as acts, last_hash as hash`.execute(tx);
    const [sent] = rows;
    if (!sent) return;
    const [acts, hash] = [sent.acts, sent.hash.toString("hex")];
    log.info({ event: "audit.head", acts, hash }, `Operators did ${acts} acts; the newest has the hash ${hash}`);
    if (to === undefined) return;
    const email = renderEmail({
      brandName,
      name: null,
      subject: `${brandName}: ${acts} acts of operators`,
      paragraphs: [
        `The audit has ${acts} acts, and is whole. The newest has this hash:`,
        hash,
        `Keep this mail. Whether acts up to it were changed since shows: ${operatorCommand(`audit verify --head ${hash}`)}`,
      ],
      footnotes: ["This comes once a day, where operators did something."],
    });
    await enqueueMail(tx, { ...email, userId: "operator", to, cause: `audit-head:${acts}:${hash}` });
  });
}
