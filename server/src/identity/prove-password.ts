import { AppError } from "../app-error.ts";
import type { Sql } from "../database/database.ts";
import { type Identity, IdentityError } from "./identity.ts";
import { refused } from "./refusal-of.ts";

interface ProofDeps {
  readonly db: Sql;
  readonly identity: Pick<Identity, "kind" | "verifyPassword">;
}

interface Given {
  readonly user: { readonly id: string; readonly email: string };
  readonly password: string;
  /** The client's IP address. */
  readonly from: string;
}

/**
 * Asks a signed-in user for the password; counts as a sign-in attempt (G91). Throws wrong_password, also where there is none
 * (G420), rate_limited.
 */
export async function provePassword({ db, identity }: ProofDeps, { user, password, from }: Given): Promise<void> {
  try {
    const { uid } = await identity.verifyPassword(user.email, password, from);
    if (uid !== user.id) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
  } catch (error) {
    const isWrong = error instanceof IdentityError && error.code === "INVALID_LOGIN_CREDENTIALS";
    if (isWrong && identity.kind === "local" && !(await hasPassword(db, user.id)))
      throw new AppError("wrong_password", "Set a password first: Forgot Password on the login page mails a link", {
        cause: error,
      });
    throw refused(error);
  }
}

/** Of an account of our own; one that a provider's sign-in made has none at first. */
export async function hasPassword(db: Sql, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom("identity_user")
    .select("id")
    .where("id", "=", userId)
    .where("password_hash", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}
