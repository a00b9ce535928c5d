import { hash } from "node:crypto";
import { sql } from "kysely";
import { type Db, isUniqueViolation, type Tx } from "../../database/database.ts";
import { emailKey } from "../email-key.ts";
import { type Device, IdentityError, type IdentityUser } from "../identity.ts";
import { endAuthSessions } from "../local/auth-sessions.ts";
import { endOthersAccess, type ReplacePasswordDeps, suspend } from "../local/replace-password.ts";
import { changeUser, lockUserForUpdate, type UserRow } from "../local/users.ts";
import type { HostedClaims } from "./hosted-token-reader.ts";

/** An account as the hosted provider knows it. */
export interface HostedUser extends IdentityUser {
  /** Sign-ins that began before are void: a new password, or somebody ended them. */
  readonly signedInSince: Date;
}

export interface MirrorDeps extends ReplacePasswordDeps {
  readonly db: Db;
}

/** Why an account is recorded: what was asked for here, or nothing but a look at the provider. */
export interface Occasion {
  readonly newPassword?: boolean;
  readonly suspended?: boolean;
  readonly signInsEnded?: boolean;
  readonly keepSession?: string | undefined;
}

/**
 * Writes an account of the hosted provider into `identity_user`, so that everything else here finds it (G321), and ends what
 * ended there. Throws EMAIL_EXISTS where another account has the address, USER_NOT_FOUND for a deleted account.
 */
export async function recordUser(deps: MirrorDeps, hosted: HostedUser, occasion: Occasion = {}): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const before = (await lockUserForUpdate(tx, hosted.uid)) ?? (await insertUser(tx, hosted));
    if (isChanged(before, hosted)) await updateUser(tx, hosted);
    if (occasion.suspended && !before.disabled) {
      await changeUser(tx, hosted.uid, { disabled: true });
      await suspend(tx, deps, hosted.uid);
    } else if (occasion.newPassword) await endOthersAccess(tx, deps, hosted.uid, occasion.keepSession);
    else if (occasion.signInsEnded) await endAuthSessions(tx, hosted.uid, { reason: "user" });
    else if (hosted.disabled) await endAuthSessions(tx, hosted.uid, { reason: "disabled" });
    else if (before.signed_in_since !== null && before.signed_in_since < hosted.signedInSince)
      await endOthersAccess(tx, deps, hosted.uid, undefined, "Your sign-ins have ended, or your password was changed");
  });
}

async function insertUser(tx: Tx, hosted: HostedUser): Promise<UserRow> {
  const inserted = await tx
    .insertInto("identity_user")
    .values({
      id: hosted.uid,
      email: hosted.email,
      email_key: emailKey(hosted.email),
      email_verified: hosted.emailVerified,
      name: hosted.name,
      signed_in_since: hosted.signedInSince,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isUniqueViolation(error, "identity_user_email_key_key") ? new IdentityError("EMAIL_EXISTS") : error;
    });
  // After the insert, which waits for a deletion that runs at the same time.
  const isDeleted = await tx
    .selectFrom("deleted_accounts")
    .where("user_id", "=", hosted.uid)
    .select("user_id")
    .execute();
  const row = inserted ?? (await lockUserForUpdate(tx, hosted.uid));
  if (isDeleted.length > 0 || !row) throw new IdentityError("USER_NOT_FOUND");
  return row;
}

function isChanged(row: UserRow, hosted: HostedUser): boolean {
  return (
    row.email !== hosted.email ||
    row.email_verified !== hosted.emailVerified ||
    row.name !== hosted.name ||
    row.signed_in_since?.getTime() !== hosted.signedInSince.getTime()
  );
}

async function updateUser(tx: Tx, { uid, email, emailVerified, name, signedInSince }: HostedUser): Promise<void> {
  await changeUser(tx, uid, { email, emailVerified, name: name ?? "" });
  // Mails go to the profile's address.
  await tx.updateTable("profiles").set({ email }).where("user_id", "=", uid).execute();
  // A password of our own provider would be an old one by now, if the account ever goes back.
  await tx
    .updateTable("identity_user")
    .set({ signed_in_since: signedInSince, password_hash: null })
    .where("id", "=", uid)
    .execute();
}

/** The hosted provider has no ids of sign-ins, but counts them by the second; every refreshed token says the same. */
export function signInId({ uid, authTime }: HostedClaims): string {
  return hash("sha256", `${uid} ${authTime.getTime()}`, "base64url").slice(0, 22);
}

/** Records a sign-in at its first token, unless it is void. It ends after 60 days, as our own do. */
export async function recordSignIn(db: Db, claims: HostedClaims, { userAgent, ip }: Device): Promise<void> {
  await sql`
    insert into identity_session (id, user_id, auth_time, expires_at, user_agent, ip, sign_in_provider)
    select ${signInId(claims)}, id, began, began + interval '60 days', ${userAgent?.slice(0, 256) ?? null}, ${ip ?? null},
      ${claims.provider}
    from identity_user, (select ${claims.authTime}::timestamptz as began) as sign_in
    where id = ${claims.uid} and not disabled and began >= date_trunc('second', signed_in_since)
      and began > now() - interval '60 days'
    for share of identity_user
    on conflict (id) do nothing`.execute(db);
}
