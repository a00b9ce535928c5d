import { sql } from "kysely";
import { AppError } from "../app-error.ts";
import type { Tx } from "../database/database.ts";
import { auditHash, noHash } from "./audit-hash.ts";

/** Who acts and why: `cli:USER` of the machine, `operator:MAIL`, or `worker:JOB` for what a setting decided. */
export interface Author {
  readonly actor: string;
  readonly reason: string;
}

/** Every act, with the kind of its subject. */
export const subjectOfAct = {
  "accounts.export": "accounts",
  "accounts.import": "accounts",
  "announcement.send": "announcement",
  "catalogue.accept": "catalogue",
  "credit.grant": "user",
  "credit.revoke": "user",
  "environment.stop": "environment",
  "environment.terminate": "environment",
  "gpu.quarantine": "gpu",
  "gpu.release": "gpu",
  "hold.lift": "user",
  "host.add": "host",
  "host.drain": "host",
  "host.lose": "host",
  "host.move": "host",
  "host.remove": "host",
  "host.stop_moving": "host",
  "host.undrain": "host",
  "mining.dismiss": "environment",
  "operator.add": "operator",
  "operator.remove": "operator",
  "operator.reset": "operator",
  "operator.set_up": "operator",
  "order.resend": "order",
  "refund.decline": "order",
  "refund.grant": "order",
  "ticket.answer": "ticket",
  "ticket.close": "ticket",
  "type.prepare": "type",
  "user.delete": "user",
  "user.export": "user",
  "user.lift": "user",
  "user.remove_factor": "user",
  "user.reset_link": "user",
  "user.suspend": "user",
  "user.warn": "user",
  "voucher.create": "voucher",
  "voucher.revoke": "voucher",
} as const;

export type Act = keyof typeof subjectOfAct;

/** Flat, without secrets, card data and what users wrote. Numbers are integers. */
export type ActDetails = Readonly<Record<string, string | number | boolean | null>>;

const longestReason = 1000;
/** Serializes the chain (docs/internals/locking.md). */
const chainLock = 8301551;

/** Appends an act to the audit, in its transaction and as its last statement (G118). Throws for a reason that is too long. */
export async function recordAct(
  tx: Tx,
  { actor, reason: given }: Author,
  act: Act,
  subject_id: string,
  details: ActDetails = {},
): Promise<void> {
  const reason = given.trim();
  if (reason.length > longestReason)
    throw new AppError("invalid_request", `A reason has at most ${longestReason} characters, not ${reason.length}`);
  await sql`select pg_advisory_xact_lock(${chainLock})`.execute(tx);
  const { rows } = await sql<{ at: Date; last: number; hash: Buffer | null }>`
    select date_trunc('milliseconds', clock_timestamp()) as at, coalesce(last.id, 0) as last, last.hash
    from (values (1)) one left join (select id, hash from audit order by id desc limit 1) last on true`.execute(tx);
  const { at = new Date(), last = 0, hash = null } = rows[0] ?? {};
  const row = { id: last + 1, at, actor, act, subject_kind: subjectOfAct[act], subject_id, reason, details };
  await tx
    .insertInto("audit")
    .values({ ...row, details: JSON.stringify(details), hash: auditHash(hash ?? noHash, row) })
    .execute();
}

/** Returns the trimmed reason. Throws where there is none: acts on people need one (G69). */
export function requireReason({ reason }: Author): string {
  if (reason.trim() === "") throw new AppError("invalid_request", "This needs a reason, which the audit keeps");
  return reason.trim();
}
