import { hash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import type { ActionKind } from "../identity.ts";
import { IdentityError } from "../identity.ts";
import { dropPendingSignIns } from "./pending-sign-ins.ts";
import { dropTrustedBrowsers } from "./trusted-browsers.ts";
import type { UserRow } from "./users.ts";

type CodeKind = ActionKind | "SIGN_IN";

const lifetime = { PASSWORD_RESET: "1 hour", VERIFY_EMAIL: "1 day", SIGN_IN: "5 minutes" } as const;

/** 256 random bits; only the hash is stored. A new code of a mailed kind invalidates the previous one. */
export async function createCode(tx: Tx, kind: CodeKind, user: UserRow, issuer: string | null = null): Promise<string> {
  const code = randomBytes(32).toString("base64url");
  if (kind !== "SIGN_IN")
    await tx.deleteFrom("identity_code").where("user_id", "=", user.id).where("kind", "=", kind).execute();
  await tx
    .insertInto("identity_code")
    .values({
      hash: hashOf(code),
      user_id: user.id,
      kind,
      email: user.email_key,
      issuer,
      expires_at: sql`now() + ${lifetime[kind]}::interval`,
    })
    .execute();
  return code;
}

/** Checks a code without using it up. Throws INVALID_OOB_CODE, EXPIRED_OOB_CODE. */
export async function peekCode(db: Sql, kind: ActionKind, code: string): Promise<{ email: string }> {
  const row = await db
    .selectFrom("identity_code as code")
    .innerJoin("identity_user as account", "account.id", "code.user_id")
    .select(["code.used_at", "account.email", "account.disabled"])
    .select(sql<boolean>`code.email = account.email_key`.as("same_address"))
    .select(sql<boolean>`code.expires_at <= now()`.as("expired"))
    .where("code.hash", "=", hashOf(code))
    .where("code.kind", "=", kind)
    .executeTakeFirst();
  if (!row || row.used_at || row.disabled || !row.same_address) throw new IdentityError("INVALID_OOB_CODE");
  if (row.expired) throw new IdentityError("EXPIRED_OOB_CODE");
  return { email: row.email };
}

interface SpentCode extends UserRow {
  /** With which the code was made. */
  readonly issuer: string | null;
}

/**
 * Uses up a code and locks its user; undefined for an invalid code. Of concurrent calls one wins. A change of the user's
 * address invalidates the code. Locks the user before the code, as every writer here does (docs/internals/locking.md).
 */
export async function spendCode(tx: Tx, kind: CodeKind, code: string): Promise<SpentCode | undefined> {
  const user = await tx
    .selectFrom("identity_code as code")
    .innerJoin("identity_user as account", "account.id", "code.user_id")
    .selectAll("account")
    .select("code.issuer")
    .where("code.hash", "=", hashOf(code))
    .forNoKeyUpdate("account")
    .executeTakeFirst();
  if (!user || user.disabled) return undefined;
  const spent = await tx
    .updateTable("identity_code")
    .set({ used_at: sql`now()` })
    .where("hash", "=", hashOf(code))
    .where("kind", "=", kind)
    .where("email", "=", user.email_key)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
  return spent.numUpdatedRows > 0n ? user : undefined;
}

/** Deletes reset links, custom tokens, half sign-ins and trust in browsers: what could undo a change of the password. */
export async function dropCodes(tx: Tx, userId: string): Promise<void> {
  await tx
    .deleteFrom("identity_code")
    .where("user_id", "=", userId)
    .where("kind", "in", ["PASSWORD_RESET", "SIGN_IN"])
    .execute();
  await dropPendingSignIns(tx, userId);
  await dropTrustedBrowsers(tx, userId);
}

const hashOf = (code: string) => hash("sha256", code, "buffer");
