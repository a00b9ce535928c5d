import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { endAll, stopAll } from "../../environments/api/environment-actions.ts";
import { revokeAccess } from "../../environments/api/revoke-access.ts";
import { exitQueue } from "../../environments/queue/join-queue.ts";
import { isSuspended } from "../../identity/is-suspended.ts";
import { suspend } from "../../identity/local/replace-password.ts";
import { changeUser, lockUserForUpdate } from "../../identity/local/users.ts";
import { endUnpaidOrdersOf } from "../../payments/orders/end-unpaid-order.ts";
import { sentence } from "../../text/sentence.ts";
import { userIdOf } from "./find-user.ts";
import { type PeopleDeps, warningsBefore } from "./warn-user.ts";

interface HowToSuspend {
  /** Without the warnings before. */
  readonly now: boolean;
  /** Ends the environments; their unused time is paid back (G108). Otherwise they stop and keep it. */
  readonly refund: boolean;
}

export interface Suspended {
  readonly userId: string;
  /** False when the account was suspended before. */
  readonly isNew: boolean;
  /** Environments that were stopped or ended now. */
  readonly environments: number;
}

/**
 * Suspends an account in one transaction (G69, G119): sign-ins end, share links and secrets are revoked, unpaid orders are
 * cancelled, environments stop with their time banked. Repeated with `refund` it ends them. Throws for no account, and
 * without `now` for one with fewer than two warnings. Lock order (docs/internals/locking.md): the user, orders, environments.
 */
export async function suspendUser(
  deps: PeopleDeps,
  who: string,
  how: HowToSuspend,
  author: Author,
): Promise<Suspended> {
  const reason = requireReason(author);
  return await deps.db.transaction().execute(async (tx) => {
    const userId = await userIdOf(tx, who);
    await lockUserForUpdate(tx, userId);
    const isNew = !(await isSuspended(tx, userId));
    if (isNew && !how.now) await requireWarnings(tx, userId);
    await endUnpaidOrdersOf(tx, userId);
    const environments = how.refund ? await endAll(tx, userId, "operator") : await stopAll(tx, userId);
    if (isNew) await endAccess(tx, deps, userId, reason, how.refund);
    if (isNew || environments > 0)
      await recordAct(tx, author, "user.suspend", userId, { environments, refund: how.refund, now: how.now });
    return { userId, isNew, environments };
  });
}

/** What was done, for the operator; `who` as the account was named. */
export function suspendedText(who: string, { isNew, environments }: Suspended, refund: boolean): string {
  if (!isNew && environments === 0) return `${who} is suspended already`;
  const many = environments !== 1;
  const fate = refund
    ? `${many ? "end" : "ends"}, and ${many ? "their" : "its"} unused time is paid back`
    : `${many ? "stop with their" : "stops with its"} time banked`;
  return `${who} is suspended; ${environments} ${many ? "environments" : "environment"} ${fate}`;
}

export function liftedText(who: string, lifted: boolean): string {
  return lifted ? `${who} can sign in again` : `${who} is not suspended`;
}

async function requireWarnings(tx: Tx, userId: string): Promise<void> {
  const rows = await tx.selectFrom("account_warnings").select("id").where("user_id", "=", userId).execute();
  if (rows.length >= warningsBefore) return;
  throw new AppError(
    "action_not_allowed",
    `${userId} has ${rows.length} of ${warningsBefore} warnings: warn it first, or suspend it at once with --now`,
  );
}

async function endAccess(tx: Tx, deps: PeopleDeps, userId: string, reason: string, refund: boolean): Promise<void> {
  await tx.insertInto("account_suspensions").values({ id: newId(), user_id: userId, reason }).execute();
  await changeUser(tx, userId, { disabled: true });
  const fate = refund
    ? "Your environments end, and the time that you have not used is paid back. Files are kept as after any end."
    : "Your environments are stopped. Their files are kept, and so is the time that you have not used.";
  const text = `${sentence(reason)} ${fate} Write to ${deps.contact} if you think that this is a mistake, or for a copy or the deletion of your data.`;
  await suspend(tx, { announce: deps.announce, endRights: revokeAccess }, userId, text);
  await exitQueue(tx, userId);
}

/** Lifts a suspension: signing in works again, stopped environments can be started with their time. Returns false without one. */
export async function liftSuspension({ db, announce }: PeopleDeps, who: string, author: Author): Promise<boolean> {
  requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const userId = await userIdOf(tx, who);
    await lockUserForUpdate(tx, userId);
    const { rows } = await sql<{ id: string }>`
      update account_suspensions set lifted_at = now() where user_id = ${userId} and lifted_at is null returning id`.execute(
      tx,
    );
    if (!rows[0]) return false;
    await changeUser(tx, userId, { disabled: false });
    await announce(tx, {
      userId,
      cause: `suspension-lifted:${rows[0].id}`,
      title: "Your account works again",
      body: "The suspension is over. Sign in as before; stopped environments have kept their files and their time. Links that you shared must be made again.",
      link: "/environments",
    });
    await recordAct(tx, author, "user.lift", userId);
    return true;
  });
}
