import { isIP } from "node:net";
import { maxPasskeys, type NewPasskey } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { notFound } from "../../http/mount.ts";
import { IdentityError, type PasskeyOwner, type Passkeys, type Proof } from "../identity.ts";
import { requireOpenAuthSession } from "./auth-sessions.ts";
import { countPasskeys } from "./count-passkeys.ts";
import { codeWasRight, countCode, factorSince, takeCode } from "./factor-codes.ts";
import type { LocalDeps } from "./local-deps.ts";
import { newChallenge, spendChallenge } from "./passkey-challenges.ts";
import { signInPurpose, signInWithPasskey } from "./passkey-sign-ins.ts";
import { lockUserForUpdate } from "./users.ts";
import { verifyPassword } from "./verify-credentials.ts";
import {
  type PasskeyKey,
  type RelyingParty,
  readChallenge,
  refusePasskey,
  verifyNewPasskey,
} from "./verify-passkey.ts";

const timeoutMs = 5 * 60_000;

/** EdDSA, ES256, RS256: what authenticators of today have. */
const algorithms = [-8, -7, -257];

/** The passkeys of accounts (G424). Each throws `action_not_allowed` where the product's address allows none. */
export function passkeys(deps: LocalDeps): Passkeys {
  const { db } = deps;
  return {
    unavailable: () => unavailable(deps),

    async list(uid) {
      const rows = await db
        .selectFrom("identity_passkeys")
        .select(["id", "name", "created_at", "last_used_at", "backed_up"])
        .where("user_id", "=", uid)
        .orderBy("created_at")
        .execute();
      return rows.map(({ id, name, created_at, last_used_at, backed_up }) => ({
        ...{ id, name, createdAt: created_at, lastUsedAt: last_used_at, isBackedUp: backed_up },
      }));
    },

    proofOf: async (uid) => ((await factorSince(db, uid)) ? "code" : "password"),

    begin: (owner, proof, site) => begin(deps, owner, proof, site),

    add: (owner, name, credential) => add(deps, owner, name, credential),

    remove: (owner, id, proof) => remove(deps, owner, id, proof),

    async beginSignIn() {
      const { id } = relyingPartyOf(deps);
      const challenge = newChallenge(deps.challengeKey, signInPurpose);
      return { rpId: id, challenge, timeout: timeoutMs, userVerification: "required" };
    },

    signIn: (credential, device) => signInWithPasskey(deps, relyingPartyOf(deps), credential, device),
  };
}

/** What a browser needs of an address before it offers passkeys; null: it has it. */
function unavailable({ baseUrl }: Pick<LocalDeps, "baseUrl">): string | null {
  const { origin, protocol, hostname } = new URL(baseUrl());
  if (isIP(hostname.replaceAll(/[[\]]/g, "")) !== 0)
    return `Passkeys need an address with a name, and this installation is at ${origin}.`;
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return protocol === "https:" || isLocal ? null : `Passkeys need https, and this installation is at ${origin}.`;
}

function relyingPartyOf(deps: Pick<LocalDeps, "baseUrl">): RelyingParty {
  const why = unavailable(deps);
  if (why !== null) throw new AppError("action_not_allowed", why);
  const { origin, hostname } = new URL(deps.baseUrl());
  return { id: hostname, origin };
}

/** A challenge is of one sign-in: what somebody else began, or an ended sign-in, adds nothing. */
const addPurpose = ({ uid, sessionId }: PasskeyOwner) => `add\0${uid}\0${sessionId}`;

async function begin(deps: LocalDeps, owner: PasskeyOwner, proof: Proof, site: string) {
  const { id } = relyingPartyOf(deps);
  const held = await deps.db
    .selectFrom("identity_passkeys")
    .select("credential_id")
    .where("user_id", "=", owner.uid)
    .execute();
  if (held.length >= maxPasskeys) throw tooMany();
  await prove(deps, owner, proof);
  return {
    rp: { id, name: site },
    user: { id: handleOf(owner.uid), name: owner.email, displayName: owner.email },
    challenge: newChallenge(deps.challengeKey, addPurpose(owner)),
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: timeoutMs,
    excludeCredentials: held.map(({ credential_id }) => ({ type: "public-key" as const, id: credential_id })),
    authenticatorSelection: {
      residentKey: "required" as const,
      requireResidentKey: true as const,
      userVerification: "required" as const,
    },
    attestation: "none" as const,
  };
}

/** As a passkey's device keeps it and sends it back. */
const handleOf = (uid: string) => Buffer.from(uid).toString("base64url");

async function add(deps: LocalDeps, owner: PasskeyOwner, typedName: string, credential: NewPasskey) {
  const name = typedName.replaceAll(/\s+/g, " ").trim();
  if (name === "") throw new AppError("invalid_request", "Give the passkey a name");
  const relyingParty = relyingPartyOf(deps);
  const expected = { relyingParty, key: deps.challengeKey, purpose: addPurpose(owner) };
  const challenge = readChallenge(credential.response.clientDataJSON, expected);
  const key = await verifyNewPasskey(credential, relyingParty, challenge);
  return deps.db.transaction().execute(async (tx) => {
    await lockUserForUpdate(tx, owner.uid);
    await requireOpenAuthSession(tx, owner.sessionId);
    if (!(await spendChallenge(tx, challenge))) refusePasskey("late");
    if ((await countPasskeys(tx, owner.uid)) >= maxPasskeys) throw tooMany();
    const row = await insert(tx, owner.uid, { ...key, name });
    await deps.announce?.(tx, {
      userId: owner.uid,
      cause: `passkey:${newId()}`,
      title: "A passkey was added",
      body: `"${name}" signs in to your account now, without a password or a code. If it was not you, remove it now, change your password and write to us.`,
      link: "/settings?tab=security",
    });
    return { id: row.id, name, createdAt: row.created_at, lastUsedAt: null, isBackedUp: key.isBackedUp };
  });
}

async function insert(tx: Tx, userId: string, passkey: PasskeyKey & { readonly name: string }) {
  const row = await tx
    .insertInto("identity_passkeys")
    .values({
      id: newId(),
      user_id: userId,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      sign_count: passkey.signCount,
      name: passkey.name,
      backed_up: passkey.isBackedUp,
    })
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .returning(["id", "created_at"])
    .executeTakeFirst();
  return row ?? refusePasskey("known");
}

async function remove(deps: LocalDeps, owner: PasskeyOwner, id: string, proof: Proof): Promise<void> {
  const held = await deps.db
    .selectFrom("identity_passkeys")
    .select("id")
    .where("id", "=", id)
    .where("user_id", "=", owner.uid)
    .executeTakeFirst();
  if (!held) throw notFound();
  await prove(deps, owner, proof);
  await deps.db.transaction().execute(async (tx) => {
    await lockUserForUpdate(tx, owner.uid);
    await requireOpenAuthSession(tx, owner.sessionId);
    const removed = await tx
      .deleteFrom("identity_passkeys")
      .where("id", "=", id)
      .where("user_id", "=", owner.uid)
      .returning("name")
      .executeTakeFirst();
    // Another tab was faster, and has told its owner.
    if (!removed) return;
    await deps.announce?.(tx, {
      userId: owner.uid,
      cause: `passkey:${newId()}`,
      title: "A passkey was removed",
      body: `"${removed.name}" signs nobody in any more. If it was not you, change your password now and write to us.`,
      link: "/settings?tab=security",
    });
  });
}

/**
 * Throws unless the caller shows, besides the sign-in, a code where there is a second factor, and else the password: a passkey
 * needs neither afterwards.
 */
async function prove(deps: LocalDeps, owner: PasskeyOwner, { password, code }: Proof): Promise<void> {
  if (!(await factorSince(deps.db, owner.uid))) {
    if (password === undefined) throw new AppError("wrong_password", "Type your password");
    await verifyPassword(deps, owner.email, password, owner.from);
    return;
  }
  if (code === undefined) throw new AppError("wrong_password", "Type a code of your app, or a recovery code");
  await countCode(deps, owner.uid);
  await deps.db.transaction().execute(async (tx) => {
    if (!(await lockUserForUpdate(tx, owner.uid))) throw new IdentityError("USER_NOT_FOUND");
    await takeCode(tx, deps, owner.uid, code);
  });
  await codeWasRight(deps, owner.uid);
}

const tooMany = () =>
  new AppError("action_not_allowed", `An account has at most ${maxPasskeys} passkeys. Remove one first.`);
