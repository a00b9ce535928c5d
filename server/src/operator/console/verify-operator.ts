import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, RowOf } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { emailKey } from "../../identity/email-key.ts";
import type { Attempts } from "../../identity/local/count-attempts.ts";
import { checkPassword } from "../../identity/local/passwords.ts";
import type { Seal } from "../../identity/seal.ts";
import { factorStep, recoveryHash } from "../../identity/second-factor.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import type { KnownBrowser } from "./known-browsers.ts";

export interface SignInDeps {
  readonly db: Db;
  readonly seal: Seal;
  readonly attempts: Attempts;
  readonly needsSecondFactor: boolean;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Of the authenticator app, or a recovery code; "" at first. */
  readonly code: string;
}

/**
 * Verifies an operator's password and second factor. Returns the operator's id, or null when the password is right and a
 * code is needed. Attempts are limited as those of tenants are (G91), those of a browser that the operator signed in with
 * before by themselves. Throws for everything that is wrong.
 */
export async function verifyOperator(
  deps: SignInDeps,
  { email, password, code }: Credentials,
  { ip, browser }: { readonly ip: string; readonly browser?: KnownBrowser | undefined },
): Promise<string | null> {
  const { db, attempts, needsSecondFactor } = deps;
  const operator = await db
    .selectFrom("operators")
    .selectAll()
    .where("email_key", "=", emailKey(email))
    .executeTakeFirst();
  const isKnown = browser !== undefined && browser.operatorId === operator?.id;
  const sender = { network: isKnown ? `browser ${browser.id}` : addressKey(ip), familiar: isKnown };
  const attempt = await attempts.begin(`operator ${emailKey(email).slice(0, 254)}`, sender);
  const stored = attempt.mayPass ? operator?.password_hash : undefined;
  const { matches } = await checkPassword(password, stored ?? null, sender);
  if (!operator || !matches)
    throw attempt.refusal ?? new AppError("wrong_password", "This address or this password is not right");
  if (!operator.factor_sealed && needsSecondFactor)
    throw new AppError(
      "action_not_allowed",
      `Your account has no second factor, which is needed here. Whoever runs the server makes a new link: ${operatorCommand(`operators reset ${operator.email}`)}`,
    );
  if (operator.factor_sealed && code.trim() === "") return null;
  if (operator.factor_sealed && !(await takeCode(deps, operator, code)))
    throw new AppError("wrong_password", "This code is not right, or it was used before");
  await attempt.succeeded();
  return operator.id;
}

/** A code of the authenticator app works once, and a recovery code too. */
async function takeCode({ db, seal }: SignInDeps, operator: RowOf<"operators">, typed: string): Promise<boolean> {
  const secret = operator.factor_sealed ? seal.unseal(operator.factor_sealed) : undefined;
  const step = secret === undefined ? undefined : factorStep(secret, typed);
  if (step !== undefined) {
    const { numUpdatedRows } = await db
      .updateTable("operators")
      .set({ factor_step: step })
      .where("id", "=", operator.id)
      .where((where) => where.or([where("factor_step", "is", null), where("factor_step", "<", step)]))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }
  const { numUpdatedRows } = await db
    .updateTable("operator_recovery_codes")
    .set({ used_at: sql`now()` })
    .where("operator_id", "=", operator.id)
    .where("hash", "=", recoveryHash(typed))
    .where("used_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
