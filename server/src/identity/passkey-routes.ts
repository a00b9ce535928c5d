import {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  passkeySignIn,
  passkeys as passkeysEndpoint,
  removePasskey,
} from "@berth/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import { mount, success } from "../http/mount.ts";
import type { User } from "../http/request-user.ts";
import { deviceOf } from "./device-of.ts";
import { type Identity, IdentityError, type KeptPasskey, type PasskeyOwner, type Passkeys } from "./identity.ts";
import { refuse } from "./refusal-of.ts";

interface PasskeyDeps {
  readonly identity: Identity;
  readonly brandName: string;
  /** The seller's address, which a suspended account is told to write to (G119). */
  readonly contact: string;
}

/** Passkeys in the settings, and the sign-in with one (G424). */
export function passkeyRoutes(app: FastifyInstance, { identity, brandName, contact }: PasskeyDeps): void {
  mount(app, passkeysEndpoint, async ({ user }) => {
    const kept = passkeysOf(identity);
    const [list, proof] = await Promise.all([kept.list(user.id), kept.proofOf(user.id)]);
    return { ...success, passkeys: list.map(shown), proof, unavailable: kept.unavailable() };
  });

  mount(app, beginPasskey, async ({ user, body, request }) => {
    const options = await passkeysOf(identity).begin(ownerOf(user, request), body, brandName).catch(refuse);
    return { ...success, options };
  });

  mount(app, addPasskey, async ({ user, body, request }) => {
    const added = await passkeysOf(identity).add(ownerOf(user, request), body.name, body.credential).catch(refuse);
    request.log.info({ event: "user.passkey_added", userId: user.id, passkeyId: added.id }, "passkey added");
    return { ...success, passkey: shown(added) };
  });

  mount(app, removePasskey, async ({ user, params: { passkey_id: id }, body, request }) => {
    await passkeysOf(identity).remove(ownerOf(user, request), id, body).catch(refuse);
    request.log.info({ event: "user.passkey_removed", userId: user.id, passkeyId: id }, "passkey removed");
    return success;
  });

  mount(app, beginPasskeySignIn, async () => ({ ...success, options: await passkeysOf(identity).beginSignIn() }));

  mount(app, passkeySignIn, async ({ body, request }) => {
    const tokens = await passkeysOf(identity)
      .signIn(body.credential, deviceOf(request))
      .catch((error: unknown) => {
        if (!(error instanceof IdentityError) || error.code !== "USER_DISABLED") return refuse(error);
        const text = `This account is suspended. Write to ${contact} if that is a mistake.`;
        throw new AppError("passkey_refused", text, { cause: error });
      });
    return {
      ...success,
      ...{ user_id: tokens.uid, email: tokens.email, id_token: tokens.idToken },
      ...{ refresh_token: tokens.refreshToken, expires_in: tokens.expiresInSeconds },
    };
  });
}

const shown = ({ id, name, createdAt, lastUsedAt, isBackedUp }: KeptPasskey) => ({
  ...{ id, name, backed_up: isBackedUp },
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});

function ownerOf({ id: uid, email, sessionId }: User, { ip: from }: FastifyRequest): PasskeyOwner {
  return { uid, email, sessionId, from };
}

function passkeysOf({ passkeys }: Identity): Passkeys {
  if (passkeys) return passkeys;
  throw new AppError("action_not_allowed", "Accounts here are Firebase's, so passkeys are not offered");
}
