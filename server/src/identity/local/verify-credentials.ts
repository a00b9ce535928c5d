import type { Db } from "../../database/database.ts";
import { emailKey } from "../email-key.ts";
import { IdentityError } from "../identity.ts";
import { senderOf } from "./auth-sessions.ts";
import type { Sender } from "./fair-queue.ts";
import type { IdTokenClaims } from "./id-tokens.ts";
import type { LocalDeps } from "./local-deps.ts";
import { checkPassword, hashPassword } from "./passwords.ts";
import { findUser, type UserRow } from "./users.ts";

/** See `Identity.verifyPassword`. Returns the row with the verified hash. */
export async function verifyPassword(
  { db, attempts }: LocalDeps,
  email: string,
  password: string,
  from = "",
): Promise<UserRow> {
  const row = await findUser(db, { email });
  const sender = await senderOf(db, row?.id, from);
  // No account has a longer address.
  const attempt = await attempts.begin(emailKey(email).slice(0, 254), sender);
  const stored = attempt.mayPass ? row?.password_hash : undefined;
  const { matches, outdated } = await checkPassword(password, stored ?? null, sender);
  if (!row || !matches) throw attempt.refusal ?? new IdentityError("INVALID_LOGIN_CREDENTIALS");
  await attempt.succeeded();
  if (row.disabled) throw new IdentityError("USER_DISABLED");
  return outdated ? rehash(db, row, password, sender) : row;
}

/** Updates only if the verified hash is still stored, so that a concurrent password change is not undone. */
async function rehash(db: Db, row: UserRow, password: string, sender: Sender): Promise<UserRow> {
  const changed = await db
    .updateTable("identity_user")
    .set({ password_hash: await hashPassword(password, { ...sender, familiar: true }) })
    .where("id", "=", row.id)
    .where("password_hash", "=", row.password_hash)
    .returningAll()
    .executeTakeFirst();
  if (!changed) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
  return changed;
}

/** See `Identity.verifyIdToken`. */
export async function verifyIdToken(
  { readIdToken, readSession }: LocalDeps,
  token: string,
  { checkRevoked = false }: { checkRevoked?: boolean } = {},
): Promise<IdTokenClaims> {
  const claims = await readIdToken(token);
  if (!checkRevoked) return claims;
  const row = await readSession(claims.sessionId, claims.uid).catch((cause: unknown) => {
    throw cause instanceof IdentityError ? cause : new IdentityError("UNAVAILABLE", { cause });
  });
  return { ...claims, email: row.email, emailVerified: row.email_verified, name: row.name ?? "" };
}
