import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
  secondFactor,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import type { Identity, SecondFactors } from "./identity.ts";
import { provePassword } from "./prove-password.ts";
import { refuse } from "./refusal-of.ts";
import { factorPicture } from "./second-factor.ts";

interface SecondFactorDeps {
  readonly db: Db;
  readonly identity: Identity;
  /** As authenticator apps name it. */
  readonly brandName: string;
  readonly mode: "off" | "optional" | "required";
}

/** Setting up and removing the second factor (G398, G399); signing in with it is the provider's. */
export function secondFactorRoutes(app: FastifyInstance, { db, identity, brandName, mode }: SecondFactorDeps): void {
  mount(app, secondFactor, async ({ user }) => {
    const { since, recoveryCodes } = await factorsOf(identity).read(user.id);
    return { ...success, since: since?.toISOString() ?? null, recovery_codes: recoveryCodes, mode };
  });

  mount(app, beginSecondFactor, async ({ user, body, request }) => {
    const factors = factorsOf(identity);
    if (mode === "off") throw new AppError("action_not_allowed", "Two-factor sign-in is not offered here");
    await provePassword({ db, identity }, { user, password: body.password, from: request.ip });
    const secret = await factors.begin(user.id).catch(refuse);
    return { ...success, secret, picture: factorPicture(secret, brandName, user.email) };
  });

  mount(app, confirmSecondFactor, async ({ user, body }) => {
    const codes = await factorsOf(identity).confirm(user.id, body.code, user.sessionId).catch(refuse);
    return { ...success, recovery_codes: [...codes] };
  });

  mount(app, renewRecoveryCodes, async ({ user, body }) => {
    const codes = await factorsOf(identity).renewRecoveryCodes(user.id, body.code).catch(refuse);
    return { ...success, recovery_codes: [...codes] };
  });

  mount(app, removeSecondFactor, async ({ user, body }) => {
    if (mode === "required")
      throw new AppError("action_not_allowed", "Two-factor sign-in is required here, so it stays on");
    await factorsOf(identity).remove(user.id, body.code, user.sessionId).catch(refuse);
    return success;
  });
}

function factorsOf({ secondFactors }: Identity): SecondFactors {
  if (secondFactors) return secondFactors;
  throw new AppError("action_not_allowed", "Accounts here are Firebase's, which keeps their second factor too");
}
