import type { Db } from "../../database/database.ts";
import { IdentityError } from "../identity.ts";
import type { IdTokenClaims } from "./id-tokens.ts";
import type { LocalParts } from "./local-parts.ts";
import { checkPassword, hashPassword } from "./passwords.ts";
import { listAddresses } from "./sessions.ts";
import { emailKey, findUser, type UserRow } from "./users.ts";

/** As the port says (`Identity.verifyPassword`); answers the row with the hash that was good. */
export async function verifyPassword(
  { db, attempts }: LocalParts,
  email: string,
  password: string,
  from = "",
): Promise<UserRow> {
  const row = await findUser(db, { email });
  // Too long for an address is no account, and not worth a place in the memory of attempts.
  const account = emailKey(email).slice(0, 254);
  const attempt = await attempts.begin(account, from, async () => (row ? listAddresses(db, row.id) : []));
  const { matches, outdated } = await checkPassword(password, row?.password_hash ?? null);
  if (!row || !matches) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
  attempt.succeeded();
  if (row.disabled) throw new IdentityError("USER_DISABLED");
  return outdated ? rehash(db, row, password) : row;
}

/** Guarded by the hash that was checked, so that a password changed meanwhile is not undone. */
async function rehash(db: Db, row: UserRow, password: string): Promise<UserRow> {
  const changed = await db
    .updateTable("identity_user")
    .set({ password_hash: await hashPassword(password) })
    .where("id", "=", row.id)
    .where("password_hash", "=", row.password_hash)
    .returningAll()
    .executeTakeFirst();
  if (!changed) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
  return changed;
}

/** As the port says (`Identity.verifyIdToken`). */
export async function verifyIdToken(
  { readIdToken, readSession }: LocalParts,
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
