import { plural } from "@berth/contract";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { refuseUntil } from "../count-windows.ts";
import { IdentityError } from "../identity.ts";
import { factorStep, newRecoveryCodes, recoveryHash } from "../second-factor.ts";
import type { LocalDeps } from "./local-deps.ts";

/** Undefined: the account has no confirmed factor. */
export async function factorSince(db: Sql, userId: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom("identity_second_factors")
    .select("confirmed_at")
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row?.confirmed_at ?? undefined;
}

/**
 * Counts a code before it is checked, so that parallel guesses count: 10 in 15 minutes and 100 a day for an account. Throws
 * TOO_MANY_ATTEMPTS_TRY_LATER.
 */
export async function countCode({ codeTries: { short, day } }: LocalDeps, userId: string): Promise<void> {
  for (const window of [short, day]) refuseUntil(await window.take(userId));
}

/** The count of the day stays: it bounds what somebody with the password can guess, however often its owner signs in. */
export async function codeWasRight({ codeTries }: LocalDeps, userId: string): Promise<void> {
  await codeTries.short.clear(userId);
}

/**
 * Uses up a code of the app or a recovery code; each works once, and of concurrent calls one wins. A recovery code is
 * told to its owner. Throws INVALID_CODE, MFA_ENROLLMENT_NOT_FOUND.
 */
export async function takeCode(tx: Tx, deps: LocalDeps, userId: string, typed: string): Promise<void> {
  const factor = await tx
    .selectFrom("identity_second_factors")
    .select("secret_sealed")
    .where("user_id", "=", userId)
    .where("confirmed_at", "is not", null)
    .executeTakeFirst();
  if (!factor) throw new IdentityError("MFA_ENROLLMENT_NOT_FOUND");
  const secret = deps.factorSeal.unseal(factor.secret_sealed);
  const step = secret === undefined ? undefined : factorStep(secret, typed);
  if (step === undefined) return await takeRecoveryCode(tx, deps, userId, typed);
  const { numUpdatedRows } = await tx
    .updateTable("identity_second_factors")
    .set({ last_step: step })
    .where("user_id", "=", userId)
    .where((where) => where.or([where("last_step", "is", null), where("last_step", "<", step)]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new IdentityError("INVALID_CODE");
}

async function takeRecoveryCode(tx: Tx, { announce }: LocalDeps, userId: string, typed: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("identity_recovery_codes")
    .set({ used_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("hash", "=", recoveryHash(typed))
    .where("used_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new IdentityError("INVALID_CODE");
  const left = await countRecoveryCodes(tx, userId);
  await announce?.(tx, {
    userId,
    cause: `second-factor:${newId()}`,
    title: "A recovery code was used",
    body: `A recovery code was typed instead of a code of your authenticator app. ${plural(left, "code is", "codes are")} left. If it was not you, change your password now and make new codes.`,
    link: "/settings?tab=security",
  });
}

export async function countRecoveryCodes(db: Sql, userId: string): Promise<number> {
  const rows = await db
    .selectFrom("identity_recovery_codes")
    .select("hash")
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .execute();
  return rows.length;
}

/** Returns ten new codes, which are stored as hashes only; the former ones stop working. */
export async function replaceRecoveryCodes(tx: Tx, userId: string): Promise<readonly string[]> {
  const codes = newRecoveryCodes();
  await tx.deleteFrom("identity_recovery_codes").where("user_id", "=", userId).execute();
  await tx
    .insertInto("identity_recovery_codes")
    .values(codes.map((code) => ({ user_id: userId, hash: recoveryHash(code) })))
    .execute();
  return codes;
}
