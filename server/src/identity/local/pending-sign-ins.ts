import { hash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import type { SignInProvider, SignInWay } from "./auth-sessions.ts";

/** After so many codes the password is asked again. */
const maxTries = 5;

export interface PendingSignIn extends SignInWay {
  readonly userId: string;
  /** A passkey needs no code. */
  readonly provider: Exclude<SignInProvider, "passkey">;
}

/** A sign-in that waits for its code: 256 random bits, valid for five minutes, of which only the hash is stored. */
export async function openPendingSignIn(tx: Tx, { userId, provider, issuer = null }: PendingSignIn): Promise<string> {
  const credential = randomBytes(32).toString("base64url");
  await tx
    .insertInto("identity_pending_sign_ins")
    .values({
      hash: hashOf(credential),
      user_id: userId,
      sign_in_provider: provider,
      issuer,
      expires_at: sql`now() + interval '5 minutes'`,
    })
    .execute();
  return credential;
}

/** Counts a code before it is checked, so that parallel guesses count. Undefined: unknown, used, too old, or no code is left. */
export async function tryPendingSignIn(db: Sql, credential: string): Promise<PendingSignIn | undefined> {
  const row = await db
    .updateTable("identity_pending_sign_ins")
    .set({ tries: sql`tries + 1` })
    .where("hash", "=", hashOf(credential))
    .where("tries", "<", maxTries)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(["user_id", "sign_in_provider", "issuer"])
    .executeTakeFirst();
  return row && { userId: row.user_id, provider: row.sign_in_provider, issuer: row.issuer };
}

/** Of concurrent calls one gets true. The caller holds the user's lock. */
export async function spendPendingSignIn(tx: Tx, credential: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("identity_pending_sign_ins")
    .where("hash", "=", hashOf(credential))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function dropPendingSignIns(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom("identity_pending_sign_ins").where("user_id", "=", userId).execute();
}

const hashOf = (credential: string) => hash("sha256", credential, "buffer");
