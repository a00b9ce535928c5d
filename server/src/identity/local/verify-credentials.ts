import type { Db } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { emailKey } from "../email-key.ts";
import { IdentityError } from "../identity.ts";
import { listAddresses } from "./auth-sessions.ts";
import type { Sender } from "./fair-queue.ts";
import type { IdTokenClaims } from "./id-tokens.ts";
import type { LocalDeps } from "./local-deps.ts";
import { checkPassword, hashPassword } from "./passwords.ts";
import { findUser, type UserRow } from "./users.ts";

/** As the port says (`Identity.verifyPassword`); answers the row with the hash that was good. */
export async function verifyPassword(
  { db, attempts }: LocalDeps,
  email: string,
  password: string,
  from = "",
): Promise<UserRow> {
  const row = await findUser(db, { email });
  const network = addressKey(from);
  // Asked for nobody too: the time of an answer must not tell who has an account.
  const familiar = (await listAddresses(db, row?.id ?? "")).some((address) => addressKey(address) === network);
  const turn = { network, familiar };
  // Too long for an address is no account.
  const attempt = await attempts.begin(emailKey(email).slice(0, 254), turn);
  const { matches, outdated } = await checkPassword(password, row?.password_hash ?? null, turn);
  if (!row || !matches) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
  await attempt.succeeded();
  if (row.disabled) throw new IdentityError("USER_DISABLED");
  return outdated ? rehash(db, row, password, turn) : row;
}

/** Guarded by the hash that was checked, so that a password changed meanwhile is not undone. */
async function rehash(db: Db, row: UserRow, password: string, turn: Sender): Promise<UserRow> {
  const changed = await db
    .updateTable("identity_user")
    .set({ password_hash: await hashPassword(password, { ...turn, familiar: true }) })
    .where("id", "=", row.id)
    .where("password_hash", "=", row.password_hash)
    .returningAll()
    .executeTakeFirst();
  if (!changed) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
  return changed;
}

/** As the port says (`Identity.verifyIdToken`). */
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
