import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { createCode } from "../../identity/local/action-codes.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { refuse } from "../../identity/refusal-of.ts";
import { userIdOf } from "./find-user.ts";

interface ResetLinkDeps {
  readonly db: Db;
  readonly config: Pick<Config, "firebase" | "limits">;
  readonly appUrl: string;
}

/**
 * Makes the link that a renter who forgot the password would get by mail, for an installation without a relay (G349). It is
 * valid for an hour, once, and makes the one before void. Throws for no account, and for a suspended one.
 */
export async function resetLink(deps: ResetLinkDeps, who: string, author: Author): Promise<string> {
  requireReason(author);
  const hosted = await hostedCode(deps, who);
  return await deps.db.transaction().execute(async (tx) => {
    const user = await lockUserForUpdate(tx, await userIdOf(tx, who));
    if (!user) throw new AppError("not_found", `There is no account ${who}`);
    if (user.disabled) throw new AppError("action_not_allowed", `${user.email} is suspended: lift that first`);
    const code = hosted ?? (await createCode(tx, "PASSWORD_RESET", user));
    await recordAct(tx, author, "user.reset_link", user.id);
    return `${deps.appUrl}/reset-password?oobCode=${encodeURIComponent(code)}`;
  });
}

/** A hosted provider's code, which no other can check. Undefined: the code is our own. */
async function hostedCode({ db, config }: ResetLinkDeps, who: string): Promise<string | undefined> {
  const { firebase: project, limits } = config;
  if (!project) return undefined;
  const { firebaseIdentity } = await import("../../identity/firebase/firebase-identity.ts");
  const identity = firebaseIdentity({ db, project, limits });
  const user = await identity.getUser({ uid: await userIdOf(db, who) }).catch(refuse);
  const code = user && (await identity.createActionCode("PASSWORD_RESET", user.email).catch(refuse));
  if (code === null) throw new AppError("action_not_allowed", `${who} cannot sign in at Firebase`);
  return code;
}
