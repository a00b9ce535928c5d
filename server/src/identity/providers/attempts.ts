import { hash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { type Seal, sealOf } from "../seal.ts";
import type { Attempt, ProviderAccount } from "./sign-in-provider.ts";

/** Where a sign-in came from and goes to. */
interface Journey {
  readonly provider: string;
  /** Secret of the browser that began it. */
  readonly browser: string;
  /** A path of the app. */
  readonly returnTo: string;
  /** Who wants the provider's account connected; null: a sign-in. */
  readonly linkUser: string | null;
}

/** `expired`: unknown, too old or answered before. `browser`: it was begun in another one. */
type AttemptProblem = "expired" | "browser";

export type Answered =
  | { readonly attempt: Attempt; readonly returnTo: string; readonly linkUser: string | null }
  | { readonly problem: AttemptProblem; readonly linkUser: string | null };

/** The row of a sign-in on its way: ten minutes to the provider and back, then five until the page ends it (G418). */
export function providerAttempts(db: Db, secret: Buffer) {
  const seal = sealOf(secret, "identity provider attempt v1");
  return {
    open: (journey: Journey) => open(db, seal, journey),
    answered: (found: Pick<Journey, "provider" | "browser"> & { state: string }) => answered(db, seal, found),
    keep: (state: string, account: ProviderAccount) => keep(db, seal, state, account),
    take: (found: { code: string; browser: string; linkUser: string | null }) => take(db, seal, found),
  };
}

async function open(db: Db, seal: Seal, { provider, browser, returnTo, linkUser }: Journey): Promise<Attempt> {
  const attempt = { state: secretText(), nonce: secretText(), verifier: secretText(), startedAt: Date.now() };
  await db
    .insertInto("identity_provider_attempts")
    .values({
      state_hash: hashOf(attempt.state),
      browser_hash: hashOf(browser),
      provider,
      sealed: seal.seal(JSON.stringify(attempt)),
      return_to: returnTo,
      link_user: linkUser,
      expires_at: sql`now() + interval '10 minutes'`,
    })
    .execute();
  return attempt;
}

/** Uses the attempt up: of two answers one gets it. Another browser's answer leaves it alone. */
async function answered(
  db: Db,
  seal: Seal,
  { state, browser, provider }: Pick<Journey, "provider" | "browser"> & { readonly state: string },
): Promise<Answered> {
  const found = await db
    .selectFrom("identity_provider_attempts")
    .select(["browser_hash", "link_user"])
    .where("state_hash", "=", hashOf(state))
    .executeTakeFirst();
  const linkUser = found?.link_user ?? null;
  if (found && !found.browser_hash.equals(hashOf(browser))) return { problem: "browser", linkUser };
  const spent = await db
    .updateTable("identity_provider_attempts")
    .set({ used_at: sql`now()` })
    .where("state_hash", "=", hashOf(state))
    .where("provider", "=", provider)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(["sealed", "return_to"])
    .executeTakeFirst();
  const attempt = spent && seal.unseal(spent.sealed);
  if (!attempt) return { problem: "expired", linkUser };
  return { attempt: JSON.parse(attempt) as Attempt, returnTo: spent.return_to, linkUser };
}

/** Keeps who signed in until the page comes with the returned code. */
async function keep(db: Db, seal: Seal, state: string, account: ProviderAccount): Promise<string> {
  const code = secretText();
  await db
    .updateTable("identity_provider_attempts")
    .set({
      code_hash: hashOf(code),
      sealed: seal.seal(JSON.stringify(account)),
      expires_at: sql`now() + interval '5 minutes'`,
    })
    .where("state_hash", "=", hashOf(state))
    .execute();
  return code;
}

/** Works once, in the browser that began it. Undefined for anything else. */
async function take(
  db: Db,
  seal: Seal,
  { code, browser, linkUser }: { readonly code: string; readonly browser: string; readonly linkUser: string | null },
): Promise<{ readonly provider: string; readonly account: ProviderAccount } | undefined> {
  const row = await db
    .deleteFrom("identity_provider_attempts")
    .where("code_hash", "=", hashOf(code))
    .where("browser_hash", "=", hashOf(browser))
    .where("link_user", "is not distinct from", linkUser)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(["sealed", "provider"])
    .executeTakeFirst();
  const account = row && seal.unseal(row.sealed);
  return account ? { provider: row.provider, account: JSON.parse(account) as ProviderAccount } : undefined;
}

/** 256 random bits; of what a browser holds only the hash is stored. */
export function secretText(): string {
  return randomBytes(32).toString("base64url");
}

const hashOf = (text: string) => hash("sha256", text, "buffer");
