import {
  logout,
  settingsPassword,
  settingsProfile,
  signup,
  updatePassword,
  updateProfile as updateProfileEndpoint,
  validate,
} from "@berth/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import type { Db, Tx } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import type { User } from "../http/request-user.ts";
import { type Identity, IdentityError } from "./identity.ts";
import { openProfile, updateProfile } from "./profiles.ts";
import { refusalOf, refuse } from "./refusal-of.ts";

interface AuthDeps {
  readonly db: Db;
  readonly identity: Identity;
  /** Runs in the transaction that creates the profile; once per user. */
  readonly onSignUp: (tx: Tx, user: { id: string; email: string; name: string }) => Promise<void>;
}

/** The product's own account calls; the provider handles sign-in and token refresh. */
export function authRoutes(app: FastifyInstance, deps: AuthDeps): void {
  const { db, identity, onSignUp } = deps;

  mount(app, signup, async ({ body, request }) => {
    const created = await identity.createUser({ ...body, from: request.ip }).catch(refuse);
    const accessToken = await identity.createCustomToken(created.uid).catch(refuse);
    await openProfile(db, { id: created.uid, email: created.email, name: created.name ?? "" }, onSignUp);
    request.log.info({ event: "user.signed_up", userId: created.uid }, "account created");
    return { ...success, access_token: accessToken };
  });

  // authenticate.ts has verified the token already, as for every call with a bearer token.
  mount(app, validate, async ({ user }) => {
    await openProfile(db, user, onSignUp);
    return success;
  });

  mount(app, logout, async ({ user }) => {
    await identity.revokeSessions(user.id, user.sessionId ?? undefined).catch(refuse);
    return success;
  });

  mount(app, updateProfileEndpoint, ({ user, body }) => changeProfile(deps, user, body));
  mount(app, settingsProfile, ({ user, body }) => changeProfile(deps, user, body));

  for (const endpoint of [updatePassword, settingsPassword])
    mount(app, endpoint, ({ user, body, request }) => {
      const [current, next] =
        "newPassword" in body ? [body.currentPassword, body.newPassword] : [body.current_password, body.new_password];
      return changePassword(deps, user, { current, next }, request);
    });
}

const changed = { ...success, success: true, message: "Settings updated successfully" } as const;

async function changeProfile(
  { db, identity }: AuthDeps,
  user: User,
  { name, phone }: { name: string; phone?: string | undefined },
): Promise<typeof changed> {
  await identity.updateUser(user.id, { name }).catch(refuse);
  await updateProfile(db, user, { name: name.trim(), phone: phone?.trim() });
  return changed;
}

async function changePassword(
  { identity }: AuthDeps,
  user: User,
  { current, next }: { current: string; next: string },
  request: FastifyRequest,
): Promise<typeof changed> {
  try {
    await identity.verifyPassword(user.email, current, request.ip);
    const keepSession = user.sessionId ?? undefined;
    await identity.updateUser(user.id, { password: next }, { keepSession, from: request.ip });
  } catch (error) {
    // The specification's message (G65); the code tells which of the two passwords was refused.
    const refusal = error instanceof IdentityError ? refusalOf(error) : undefined;
    if (refusal?.code === "wrong_password" || refusal?.code === "weak_password")
      throw new AppError(refusal.code, "Failed to change passwords", { cause: error });
    throw refusal ?? error;
  }
  return changed;
}
