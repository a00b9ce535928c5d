import { maxNameLength } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { notFound } from "../../http/mount.ts";
import { IdentityError } from "../identity.ts";
import type { LocalOptions } from "../local/local-deps.ts";
import { findUser, insertUser, lockUserForUpdate, requireEmail, type UserRow } from "../local/users.ts";
import { refused } from "../refusal-of.ts";
import type { ProviderAccount, SignInProvider } from "./sign-in-provider.ts";

/** The account here of who signed in at a provider; `isNew`: it was made now. Throws AppError. */
export async function enterBy(
  db: Db,
  provider: SignInProvider,
  account: ProviderAccount,
): Promise<{ readonly user: UserRow; readonly isNew: boolean }> {
  return await db
    .transaction()
    .execute(async (tx) => {
      const known = await useLink(tx, provider, account);
      if (known) return { user: known, isNew: false };
      const email = confirmedAddress(provider, account);
      // Never by the address alone: whoever holds it now need not be who opened the account (G418).
      if (await findUser(tx, { email })) throw addressTaken(provider);
      requireEmail(email);
      const name = account.name.slice(0, maxNameLength);
      const user = await insertUser(tx, { email, passwordHash: null, name, emailVerified: true });
      // Connected to another account meanwhile.
      if (!(await insertLink(tx, user.id, provider, account))) throw addressTaken(provider);
      return { user, isNew: true };
    })
    .catch((error: unknown) => {
      // Somebody signed up meanwhile.
      throw error instanceof IdentityError && error.code === "EMAIL_EXISTS" ? addressTaken(provider) : refused(error);
    });
}

async function useLink(
  tx: Tx,
  { issuer }: SignInProvider,
  { subject, email }: ProviderAccount,
): Promise<UserRow | undefined> {
  const link = await tx
    .updateTable("identity_links")
    .set({ last_used_at: sql`now()`, email })
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .returning("user_id")
    .executeTakeFirst();
  return link && findUser(tx, { uid: link.user_id });
}

/** Throws email_unverified. */
function confirmedAddress({ name }: SignInProvider, { email }: ProviderAccount): string {
  if (email !== null) return email;
  throw new AppError(
    "email_unverified",
    `${name} has not confirmed your email address. Confirm it there, then try again.`,
  );
}

function addressTaken({ name }: SignInProvider): AppError {
  return new AppError(
    "email_exists",
    `An account with this address exists. Sign in with your password first, then connect ${name} in Settings.`,
  );
}

type LinkDeps = { readonly db: Db; readonly announce: NonNullable<LocalOptions["announce"]> };

/** Connects an account of a provider to a user's own; again changes nothing. Throws AppError. */
export async function addLink(
  { db, announce }: LinkDeps,
  userId: string,
  provider: SignInProvider,
  account: ProviderAccount,
): Promise<void> {
  const email = confirmedAddress(provider, account);
  await db.transaction().execute(async (tx) => {
    await lockUserForUpdate(tx, userId);
    const id = await insertLink(tx, userId, provider, account);
    if (id === undefined) return refuseOthers(tx, userId, provider, account);
    await announce(tx, {
      userId,
      cause: `sign-in-link:${id}`,
      title: `${provider.name} is connected`,
      body: `The account ${email} at ${provider.name} signs in to yours from now on. If it was not you, remove it in Settings, change your password and write to us.`,
      link: "/settings?tab=security",
    });
  });
}

async function refuseOthers(tx: Tx, userId: string, { name, issuer }: SignInProvider, { subject }: ProviderAccount) {
  const link = await tx
    .selectFrom("identity_links")
    .select("user_id")
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
  if (link?.user_id !== userId)
    throw new AppError("action_not_allowed", `This account at ${name} signs in to another account here already`);
}

/** Undefined: it is connected already. */
async function insertLink(
  tx: Tx,
  userId: string,
  { issuer }: SignInProvider,
  { subject, email }: ProviderAccount,
): Promise<string | undefined> {
  const row = await tx
    .insertInto("identity_links")
    .values({ id: newId(), user_id: userId, issuer, subject, email })
    .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

export async function listLinks(db: Db, userId: string) {
  return await db
    .selectFrom("identity_links")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** `nameOf` an issuer. Throws not_found. */
export async function removeLink(
  { db, announce }: LinkDeps,
  { userId, id }: { readonly userId: string; readonly id: string },
  nameOf: (issuer: string) => string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const removed = await tx
      .deleteFrom("identity_links")
      .where("id", "=", id)
      .where("user_id", "=", userId)
      .returning("issuer")
      .executeTakeFirst();
    if (!removed) throw notFound();
    const name = nameOf(removed.issuer);
    await announce(tx, {
      userId,
      cause: `sign-in-link:${id}:removed`,
      title: `${name} is disconnected`,
      body: `Your account at ${name} no longer signs in to yours here. If it was not you, change your password and write to us.`,
      link: "/settings?tab=security",
    });
  });
}
