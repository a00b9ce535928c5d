import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { IdentityError, type SecondFactors } from "../identity.ts";
import { factorStep, newFactorSecret } from "../second-factor.ts";
import { dropCodes } from "./action-codes.ts";
import { endAuthSessions, isPasskeySession } from "./auth-sessions.ts";
import {
  codeWasRight,
  countCode,
  countRecoveryCodes,
  factorSince,
  replaceRecoveryCodes,
  takeCode,
} from "./factor-codes.ts";
import type { LocalDeps } from "./local-deps.ts";
import { lockUserForUpdate } from "./users.ts";

/** Setting up and removing the second factor of an account (G398, G399). */
export function secondFactors(deps: LocalDeps): SecondFactors {
  const { db } = deps;

  /** With a code that was counted, and the user's row locked: no sign-in begins meanwhile. */
  async function withCode<T>(uid: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    await countCode(deps, uid);
    const done = await db.transaction().execute(async (tx) => {
      await lockUserForUpdate(tx, uid);
      return work(tx);
    });
    await codeWasRight(deps, uid);
    return done;
  }

  return {
    async read(uid) {
      const since = await factorSince(db, uid);
      return { since: since ?? null, recoveryCodes: since ? await countRecoveryCodes(db, uid) : 0 };
    },

    isHeld: async (uid, sessionId) =>
      (await factorSince(db, uid)) !== undefined || (await isPasskeySession(db, sessionId)),

    begin: (uid) => db.transaction().execute((tx) => offer(tx, deps, uid)),

    confirm: (uid, code, keepSession) =>
      withCode(uid, async (tx) => {
        await confirmOffered(tx, deps, uid, code);
        const codes = await replaceRecoveryCodes(tx, uid);
        await factorChanged(tx, deps, uid, { on: true, keepSession, words: turnedOn });
        return codes;
      }),

    renewRecoveryCodes: (uid, code) =>
      withCode(uid, async (tx) => {
        await takeCode(tx, deps, uid, code);
        return replaceRecoveryCodes(tx, uid);
      }),

    remove: (uid, code, keepSession) =>
      withCode(uid, async (tx) => {
        await takeCode(tx, deps, uid, code);
        await turnFactorOff(tx, deps, uid, { keepSession, words: "A sign-in needs your password alone now." });
      }),
  };
}

const turnedOn = "A sign-in needs a code of your authenticator app now.";

type Announcing = Pick<LocalDeps, "announce">;

/**
 * Removes the factor with its recovery codes and ends every sign-in but `keepSession`; the owner reads `words`. Returns
 * false where there is none. The caller holds the user's lock.
 */
export async function turnFactorOff(
  tx: Tx,
  deps: Announcing,
  userId: string,
  how: { readonly keepSession: string | null; readonly words: string },
): Promise<boolean> {
  const removed = await tx
    .deleteFrom("identity_second_factors")
    .where("user_id", "=", userId)
    .where("confirmed_at", "is not", null)
    .executeTakeFirst();
  if (removed.numDeletedRows === 0n) return false;
  await factorChanged(tx, deps, userId, { ...how, on: false });
  return true;
}

async function offer(tx: Tx, { factorSeal }: LocalDeps, uid: string): Promise<string> {
  if (!(await lockUserForUpdate(tx, uid))) throw new IdentityError("USER_NOT_FOUND");
  if (await factorSince(tx, uid)) throw new IdentityError("SECOND_FACTOR_EXISTS");
  const secret = newFactorSecret();
  const row = { secret_sealed: factorSeal.seal(secret), created_at: sql<Date>`now()` };
  await tx
    .insertInto("identity_second_factors")
    .values({ user_id: uid, ...row })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(row))
    .execute();
  return secret;
}

async function confirmOffered(tx: Tx, { factorSeal }: LocalDeps, uid: string, code: string): Promise<void> {
  const offered = await tx
    .selectFrom("identity_second_factors")
    .select(["secret_sealed", "confirmed_at"])
    .select(sql<boolean>`created_at < now() - interval '1 hour'`.as("too_old"))
    .where("user_id", "=", uid)
    .executeTakeFirst();
  if (offered?.confirmed_at) throw new IdentityError("SECOND_FACTOR_EXISTS");
  const secret = offered?.too_old === false ? factorSeal.unseal(offered.secret_sealed) : undefined;
  if (secret === undefined) throw new IdentityError("MFA_ENROLLMENT_NOT_FOUND");
  const step = factorStep(secret, code);
  if (step === undefined) throw new IdentityError("INVALID_CODE");
  await tx
    .updateTable("identity_second_factors")
    .set({ confirmed_at: sql`now()`, last_step: step })
    .where("user_id", "=", uid)
    .execute();
}

interface FactorChange {
  readonly on: boolean;
  readonly keepSession: string | null;
  /** A sentence for the owner. */
  readonly words: string;
}

/** What a factor that was turned on or off ends, with the flag of spec 3.6 and the notice to the owner. */
async function factorChanged(tx: Tx, deps: Announcing, userId: string, { on, keepSession, words }: FactorChange) {
  await dropCodes(tx, userId);
  await endAuthSessions(tx, userId, { keep: keepSession ?? undefined, reason: "second factor" });
  await tx
    .insertInto("user_flags")
    .values({ user_id: userId, two_factor_auth: on })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ two_factor_auth: on }))
    .execute();
  await deps.announce?.(tx, {
    userId,
    cause: `second-factor:${newId()}`,
    title: on ? "Two-factor sign-in is on" : "Two-factor sign-in is off",
    body: `${words} Every other sign-in has ended. If it was not you, reset the password now and write to us.`,
    link: "/settings?tab=security",
  });
}
