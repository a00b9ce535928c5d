import type { UsedPasskey } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { refuseUntil } from "../count-windows.ts";
import { type Device, IdentityError } from "../identity.ts";
import type { LocalDeps } from "./local-deps.ts";
import { spendChallenge } from "./passkey-challenges.ts";
import { type Tokens, tokensOf } from "./sign-ins.ts";
import { startSession } from "./start-session.ts";
import { lockUser } from "./users.ts";
import { type RelyingParty, readChallenge, refusePasskey, verifyUsedPasskey } from "./verify-passkey.ts";

export const signInPurpose = "sign in";

/**
 * Signs in without password and code: the device has checked its owner, and has the key (G424). Throws `passkey_refused`,
 * USER_DISABLED, TOO_MANY_ATTEMPTS_TRY_LATER.
 */
export async function signInWithPasskey(
  deps: LocalDeps,
  relyingParty: RelyingParty,
  given: UsedPasskey,
  device: Device,
): Promise<Tokens> {
  refuseUntil(await deps.passkeyTries.take(`${given.id} ${addressKey(device.ip ?? "")}`));
  const expected = { relyingParty, key: deps.challengeKey, purpose: signInPurpose };
  const challenge = readChallenge(given.response.clientDataJSON, expected);
  const known = await deps.db
    .selectFrom("identity_passkeys")
    .select(["id", "user_id", "public_key"])
    .where("credential_id", "=", given.id)
    .executeTakeFirst();
  const used = await verifyUsedPasskey(given, relyingParty, challenge, known?.public_key);
  if (!known || isForeign(given, known.user_id)) refusePasskey("unknown");
  const done = await deps.db.transaction().execute(async (tx) => {
    const row = await lockUser(tx, known.user_id);
    if (!row) refusePasskey("unknown");
    if (row.disabled) throw new IdentityError("USER_DISABLED");
    if (!(await spendChallenge(tx, challenge))) refusePasskey("late");
    if (!(await countUse(tx, deps, known.id, used))) return undefined;
    return { row, session: await startSession(tx, deps, row.id, { provider: "passkey" }, device) };
  });
  // Not thrown above: what its owner is told has to be written.
  return done ? tokensOf(deps, done.row, done.session) : refusePasskey("copied");
}

/** A device names the account that it made the passkey for. */
function isForeign({ response: { userHandle } }: UsedPasskey, userId: string): boolean {
  return Boolean(userHandle) && Buffer.from(userHandle ?? "", "base64url").toString() !== userId;
}

/** False: the passkey's count went back, so there are two of it; its owner is told, once until it is used again. */
async function countUse(
  tx: Tx,
  { announce }: LocalDeps,
  id: string,
  used: { readonly signCount: number; readonly isBackedUp: boolean },
): Promise<boolean> {
  const row = await tx
    .selectFrom("identity_passkeys")
    .select(["user_id", "name", "sign_count"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) refusePasskey("unknown");
  const counts = used.signCount > 0 || row.sign_count > 0;
  if (counts && used.signCount <= row.sign_count) {
    await announce?.(tx, {
      userId: row.user_id,
      cause: `passkey:copied-${id}-${row.sign_count}`,
      title: "A passkey was refused",
      body: `"${row.name}" was used with a count that we had seen before, as a copy of it would. Nobody was signed in. Remove it, and add a new one.`,
      link: "/settings?tab=security",
    });
    return false;
  }
  await tx
    .updateTable("identity_passkeys")
    .set({ sign_count: used.signCount, backed_up: used.isBackedUp, last_used_at: sql`now()` })
    .where("id", "=", id)
    .execute();
  return true;
}
