import { isEmail } from "@berth/contract";
import { UnsecuredJWT } from "jose";
import type { Db } from "../../database/database.ts";
import { emailKey } from "../email-key.ts";
import { type Identity, IdentityError, type IdentityUser } from "../identity.ts";
import { deleteUser } from "../local/accounts.ts";
import {
  createAuthSessionFinder,
  endAuthSessions,
  listAuthSessions,
  requireValid,
  senderOf,
} from "../local/auth-sessions.ts";
import { countAttempts } from "../local/count-attempts.ts";
import { requirePassword } from "../local/passwords.ts";
import type { ReplacePasswordDeps } from "../local/replace-password.ts";
import { findUser, requireEmail } from "../local/users.ts";
import { type FirebaseProject, type ProviderUrls, providerUrls } from "./firebase-project.ts";
import { followUsers } from "./follow-users.ts";
import { hostedTokenReader } from "./hosted-token-reader.ts";
import { type HostedUser, type Occasion, recordSignIn, recordUser, signInId } from "./mirror.ts";
import { isUnknown, type ProviderCalls, providerCalls, signAsAccount, unlessUnknown } from "./provider-calls.ts";

export interface FirebaseOptions extends ReplacePasswordDeps {
  readonly db: Db;
  readonly project: FirebaseProject;
  readonly limits: { readonly signInsPerMinute: number };
  /** Elsewhere in tests. */
  readonly urls?: ProviderUrls;
}

/** The port without the local provider's own calls. */
export interface HostedIdentity extends Identity {
  readonly kind: "firebase";
}

/**
 * Firebase Authentication keeps passwords and tokens; accounts and sign-ins are mirrored in our tables (G321), so that
 * suspensions, grants and exports work as with our own provider.
 */
export function firebaseIdentity(options: FirebaseOptions): HostedIdentity {
  const { project, urls = providerUrls(project) } = options;
  const deps = { ...options, calls: providerCalls(project, urls) };
  return {
    kind: "firebase",
    secondFactors: null,
    passkeys: null,
    browserConfig: () => ({ apiKey: project.apiKey, accountsUrl: `${urls.accounts}/accounts`, tokenUrl: urls.token }),
    ...accounts(deps),
    ...credentials(deps, urls),
    listSessions: (uid) => listAuthSessions(deps.db, uid),
    async revokeSessions(uid, sessionId) {
      // The provider can only end all of them; one ends here, and its tokens are refused.
      if (sessionId === undefined) return await endAll(deps, uid);
      await deps.db.transaction().execute((tx) => endAuthSessions(tx, uid, { only: sessionId, reason: "user" }));
    },
    async revokeOtherSessions(uid, keep) {
      const ending = { keep: keep ?? undefined, reason: "user" };
      await deps.db.transaction().execute((tx) => endAuthSessions(tx, uid, ending));
    },
  };
}

interface Deps extends FirebaseOptions {
  readonly calls: ProviderCalls;
}

function accounts(deps: Deps): Pick<Identity, "createUser" | "getUser" | "updateUser" | "deleteUser"> {
  const { db, calls } = deps;
  return {
    async createUser({ email, password, name }) {
      requireEmail(email);
      requirePassword(password);
      const displayName = name?.trim();
      const { localId } = await calls.admin("", {
        email: emailKey(email),
        password,
        ...(displayName && { displayName }),
      });
      return await record(deps, String(localId));
    },

    async getUser(by) {
      const found = await lookUp(calls, by);
      return found && userOf(found);
    },

    async updateUser(uid, { email, password, name, emailVerified, disabled }, { keepSession } = {}) {
      if (email !== undefined) requireEmail(email);
      if (password !== undefined) requirePassword(password);
      await calls.admin(":update", {
        localId: uid,
        ...(email !== undefined && { email: emailKey(email) }),
        ...(password !== undefined && { password }),
        ...(name !== undefined && { displayName: name.trim() }),
        ...(emailVerified !== undefined && { emailVerified }),
        ...(disabled !== undefined && { disableUser: disabled }),
      });
      return await record(deps, uid, {
        newPassword: password !== undefined,
        suspended: disabled === true,
        keepSession,
      });
    },

    async deleteUser(uid, joined) {
      // The row's deletion is told to the provider after its transaction (start-notifying-provider.ts).
      if (joined) return await deleteUser(joined, uid);
      await calls.admin(":delete", { localId: uid }).catch(unlessUnknown);
      await db.transaction().execute((tx) => deleteUser(tx, uid));
    },
  };
}

function credentials(
  deps: Deps,
  urls: ProviderUrls,
): Pick<Identity, "createCustomToken" | "verifyIdToken" | "verifyPassword" | "createActionCode"> {
  const { db, project, calls } = deps;
  const readToken = hostedTokenReader(project, urls.keys);
  const findSession = createAuthSessionFinder(db);
  const following = followUsers(deps, (uid) => lookUp(calls, { uid }));
  const attempts = countAttempts(db, { perMinute: deps.limits.signInsPerMinute });
  return {
    createCustomToken: (uid) => createCustomToken(project, uid),

    async verifyIdToken(token, { checkRevoked = false, device = {} } = {}) {
      const claims = await readToken(token);
      const sessionId = signInId(claims);
      if (!checkRevoked) return { ...claims, sessionId };
      let row = await findSession(sessionId);
      if (!row) {
        await following.look(claims.uid);
        await recordSignIn(db, claims, device);
        row = await findSession(sessionId);
      } else if (row.valid && (await following.lookIfDue(row))) row = await findSession(sessionId);
      const user = requireValid(row, claims.uid);
      return { uid: user.id, email: user.email, emailVerified: user.email_verified, name: user.name ?? "", sessionId };
    },

    async verifyPassword(email, password, from = "") {
      if (!isEmail(emailKey(email))) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
      const attempt = await attempts.begin(
        emailKey(email),
        await senderOf(db, (await findUser(db, { email }))?.id, from),
      );
      if (!attempt.mayPass) throw attempt.refusal;
      const { localId } = await calls
        .client(":signInWithPassword", { email: emailKey(email), password, returnSecureToken: false })
        .catch(wrongUnlessKnown);
      await attempt.succeeded();
      return { uid: String(localId) };
    },

    async createActionCode(kind, email) {
      const user = await lookUp(calls, { email });
      if (!user || user.disabled) return null;
      const asked = { requestType: kind, email: user.email, returnOobLink: true };
      const { oobLink } = await calls.admin(":sendOobCode", asked);
      return new URL(String(oobLink)).searchParams.get("oobCode");
    },
  };
}

/** For five minutes. An emulator's tokens are not signed. */
async function createCustomToken({ serviceAccount }: FirebaseProject, uid: string): Promise<string> {
  const audience = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit";
  if (serviceAccount) return await signAsAccount(serviceAccount, { uid }, audience, "5m");
  return new UnsecuredJWT({ uid }).setAudience(audience).setIssuedAt().setExpirationTime("5m").encode();
}

/** Reads an account at the provider and mirrors it. Throws USER_NOT_FOUND. */
async function record(deps: Deps, uid: string, occasion?: Occasion): Promise<IdentityUser> {
  const hosted = await lookUp(deps.calls, { uid });
  if (!hosted) throw new IdentityError("USER_NOT_FOUND");
  await recordUser(deps, hosted, occasion);
  return userOf(hosted);
}

async function endAll(deps: Deps, uid: string): Promise<void> {
  const validSince = String(Math.floor(Date.now() / 1000));
  try {
    await deps.calls.admin(":update", { localId: uid, validSince });
    await record(deps, uid, { signInsEnded: true });
  } catch (error) {
    unlessUnknown(error);
  }
}

/** Null: no such account. One without an address is refused as if there were none. */
async function lookUp(calls: ProviderCalls, by: { uid: string } | { email: string }): Promise<HostedUser | null> {
  if ("email" in by && !isEmail(emailKey(by.email))) return null;
  const asked = "uid" in by ? { localId: [by.uid] } : { email: [emailKey(by.email)] };
  const { users } = (await calls.admin(":lookup", asked)) as { users?: readonly Readonly<Record<string, unknown>>[] };
  const [found] = users ?? [];
  if (typeof found?.["email"] !== "string") return null;
  return {
    uid: String(found["localId"]),
    email: found["email"],
    emailVerified: found["emailVerified"] === true,
    name: typeof found["displayName"] === "string" ? found["displayName"] || null : null,
    disabled: found["disabled"] === true,
    signedInSince: new Date(Number(found["validSince"] ?? 0) * 1000),
  };
}

function userOf({ signedInSince: _, ...user }: HostedUser): IdentityUser {
  return user;
}

/** An unknown address is refused as a wrong password is. */
function wrongUnlessKnown(error: unknown): never {
  if (isUnknown(error)) throw new IdentityError("INVALID_LOGIN_CREDENTIALS", { cause: error });
  throw error;
}
