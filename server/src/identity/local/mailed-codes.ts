import { passwordChecks } from "@berth/contract";
import { type ActionKind, IdentityError, type IdentityUser } from "../identity.ts";
import { createCode, peekCode, spendCode } from "./action-codes.ts";
import { familiarSender } from "./fair-queue.ts";
import type { LocalDeps } from "./local-deps.ts";
import { hashPassword, requirePassword } from "./passwords.ts";
import { replacePassword } from "./replace-password.ts";
import { changeUser, findUser, toUser } from "./users.ts";

/** Null: no such user, or a disabled one. */
export async function createActionCode({ db }: LocalDeps, kind: ActionKind, email: string): Promise<string | null> {
  const row = await findUser(db, { email });
  return row && !row.disabled ? db.transaction().execute((tx) => createCode(tx, kind, row)) : null;
}

/** For the page of the link. Does not use up the code. Throws INVALID_OOB_CODE, EXPIRED_OOB_CODE. */
export function readResetCode({ db }: LocalDeps, code: string): Promise<{ email: string }> {
  return peekCode(db, "PASSWORD_RESET", code);
}

/** Sets a new password and marks the address as verified. Throws WEAK_PASSWORD below the reset checklist (G46). */
export async function resetPassword(
  deps: LocalDeps,
  code: string,
  password: string,
  from = "",
): Promise<{ email: string }> {
  const { db, attempts, codeTries } = deps;
  requirePassword(password);
  if (!passwordChecks.every(({ met }) => met(password))) throw new IdentityError("WEAK_PASSWORD");
  await peekCode(db, "PASSWORD_RESET", code);
  // Hashed before the code is used up, because a full hash queue must not invalidate the link.
  const passwordHash = await hashPassword(password, familiarSender(from));
  const row = await db.transaction().execute(async (tx) => {
    const user = await spendCode(tx, "PASSWORD_RESET", code);
    if (!user) throw new IdentityError("INVALID_OOB_CODE");
    return replacePassword(tx, deps, user.id, { passwordHash, emailVerified: true });
  });
  await attempts.forget(row.email_key);
  // Whoever guessed codes had the former password.
  await codeTries.day.clear(row.id);
  return { email: row.email };
}

/** Throws INVALID_OOB_CODE, EXPIRED_OOB_CODE. */
export async function confirmEmail({ db }: LocalDeps, code: string): Promise<IdentityUser> {
  await peekCode(db, "VERIFY_EMAIL", code);
  return db.transaction().execute(async (tx) => {
    const user = await spendCode(tx, "VERIFY_EMAIL", code);
    if (!user) throw new IdentityError("INVALID_OOB_CODE");
    return toUser(await changeUser(tx, user.id, { emailVerified: true }));
  });
}
