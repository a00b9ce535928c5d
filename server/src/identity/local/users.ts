import { isEmail } from "@berth/contract";
import { sql } from "kysely";
import { isUniqueViolation, type RowOf, type Sql, type Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { emailKey } from "../email-key.ts";
import { IdentityError, type IdentityUser, type UserPatch } from "../identity.ts";

export type UserRow = RowOf<"identity_user">;

export function toUser(row: UserRow): IdentityUser {
  return { uid: row.id, email: row.email, emailVerified: row.email_verified, name: row.name, disabled: row.disabled };
}

export async function findUser(db: Sql, by: { uid: string } | { email: string }): Promise<UserRow | undefined> {
  const query = db.selectFrom("identity_user").selectAll();
  if ("uid" in by) return query.where("id", "=", by.uid).executeTakeFirst();
  // An invalid address has no user, and may contain characters that the database rejects.
  if (!isEmail(emailKey(by.email))) return undefined;
  return query.where("email_key", "=", emailKey(by.email)).executeTakeFirst();
}

/** Reads the user with a shared lock until the transaction ends. */
export function lockUser(tx: Tx, uid: string): Promise<UserRow | undefined> {
  return tx.selectFrom("identity_user").selectAll().where("id", "=", uid).forShare().executeTakeFirst();
}

/** The same with an exclusive lock, for changes and deletion. */
export async function lockUserForUpdate(tx: Tx, uid: string): Promise<UserRow | undefined> {
  return tx.selectFrom("identity_user").selectAll().where("id", "=", uid).forUpdate().executeTakeFirst();
}

/** Throws INVALID_EMAIL. */
export function requireEmail(email: string): void {
  if (!isEmail(emailKey(email))) throw new IdentityError("INVALID_EMAIL");
}

/** Throws EMAIL_EXISTS, also for concurrent sign-ups. */
export async function insertUser(
  db: Sql,
  user: { email: string; passwordHash: string | null; name: string | undefined; emailVerified?: boolean },
): Promise<UserRow> {
  const row = await db
    .insertInto("identity_user")
    .values({
      id: newId(),
      email: user.email.trim(),
      email_key: emailKey(user.email),
      password_hash: user.passwordHash,
      name: user.name?.trim() || null,
      email_verified: user.emailVerified ?? false,
    })
    .onConflict((conflict) => conflict.column("email_key").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new IdentityError("EMAIL_EXISTS");
  return row;
}

/** A new address is unverified unless the patch says otherwise. Throws USER_NOT_FOUND, EMAIL_EXISTS. */
export async function changeUser(
  db: Sql,
  uid: string,
  {
    email,
    name,
    emailVerified,
    disabled,
    passwordHash,
  }: Omit<UserPatch, "password"> & { passwordHash?: string | undefined },
): Promise<UserRow> {
  const key = email === undefined ? undefined : emailKey(email);
  const row = await db
    .updateTable("identity_user")
    .set({
      updated_at: sql`now()`,
      ...(email !== undefined && { email: email.trim() }),
      ...(key !== undefined && { email_key: key, email_verified: sql<boolean>`email_verified and email_key = ${key}` }),
      ...(name !== undefined && { name: name.trim() || null }),
      ...(emailVerified !== undefined && { email_verified: emailVerified }),
      ...(disabled !== undefined && { disabled }),
      ...(passwordHash !== undefined && { password_hash: passwordHash }),
    })
    .where("id", "=", uid)
    .returningAll()
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isUniqueViolation(error, "identity_user_email_key_key") ? new IdentityError("EMAIL_EXISTS") : error;
    });
  if (!row) throw new IdentityError("USER_NOT_FOUND");
  return row;
}
