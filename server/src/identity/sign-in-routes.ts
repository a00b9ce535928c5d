import { endOtherSignIns, endSignIn, listSignIns } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { mount, notFound, success } from "../http/mount.ts";
import type { Identity } from "./identity.ts";
import { refuse } from "./refusal-of.ts";

interface SignInDeps {
  readonly identity: Identity;
  /** An issuer's name. */
  readonly nameOf: (issuer: string) => string;
}

/** The open sign-ins of an account, and their ends (G403). */
export function signInRoutes(app: FastifyInstance, { identity, nameOf }: SignInDeps): void {
  mount(app, listSignIns, async ({ user }) => {
    const sessions = await identity.listSessions(user.id);
    const sign_ins = sessions.map(({ id, createdAt, lastUsedAt, userAgent, ip, byPasskey, issuer }) => ({
      id,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt.toISOString(),
      ...{ user_agent: userAgent, ip, by_passkey: byPasskey, current: id === user.sessionId },
      provider: issuer === null ? null : nameOf(issuer),
    }));
    return { ...success, sign_ins };
  });

  mount(app, endSignIn, async ({ user, params: { sign_in_id: id } }) => {
    const sessions = await identity.listSessions(user.id);
    if (!sessions.some((session) => session.id === id)) throw notFound();
    await identity.revokeSessions(user.id, id).catch(refuse);
    return success;
  });

  mount(app, endOtherSignIns, async ({ user }) => {
    await identity.revokeOtherSessions(user.id, user.sessionId).catch(refuse);
    return success;
  });
}
