import { randomBytes } from "node:crypto";
import {
  openOperatorLink,
  operatorSession,
  operatorSignIn,
  operatorSignOut,
  spendOperatorLink,
} from "@berth/contract/console/session";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readUnit } from "../../environments/leases/read-unit.ts";
import { mount, success } from "../../http/mount.ts";
import { cookieOf } from "../../http/request-user.ts";
import { countAttempts } from "../../identity/local/count-attempts.ts";
import { sealOf } from "../../identity/seal.ts";
import { factorPicture } from "../../identity/second-factor.ts";
import { openLink, spendLink } from "../accounts/operator-links.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { browserCookie, operatorOf, sessionCookie, setCookie } from "./guard-console.ts";
import type { KnownBrowsers } from "./known-browsers.ts";
import type { OperatorSessions } from "./operator-sessions.ts";
import { verifyOperator } from "./verify-operator.ts";

type SessionDeps = Pick<ConsoleDeps, "config" | "db" | "secret" | "url" | "needsSecondFactor"> & {
  readonly sessions: OperatorSessions;
  readonly browsers: KnownBrowsers;
};

/** Signing in and out, and one-time links. */
export function sessionRoutes(app: FastifyInstance, deps: SessionDeps): void {
  const { config, db, secret, needsSecondFactor, sessions, browsers, url } = deps;
  const seal = sealOf(secret, "operator factor v1");
  const attempts = countAttempts(db, { perMinute: config.limits.signInsPerMinute });
  const cookies = cookieSetter(url);
  const signIn = async (request: FastifyRequest, operatorId: string) => {
    cookies.set(request, sessionCookie(url), await sessions.open(operatorId, request.ip));
    cookies.set(request, browserCookie(url), await browsers.prove({ id: request.browser?.id, operatorId }));
  };

  mount(app, operatorSession, async ({ request }) => ({
    ...{ ...success, email: operatorOf(request).email },
    unit: await readUnit(db),
  }));

  mount(app, operatorSignIn, async ({ body, request }) => {
    const id = await verifyOperator({ db, seal, attempts, needsSecondFactor }, body, request);
    if (id !== null) await signIn(request, id);
    return { ...success, signed_in: id !== null };
  });

  mount(app, operatorSignOut, async ({ request }) => {
    await sessions.end(operatorOf(request).sessionId);
    cookies.set(request, sessionCookie(url), "");
    return success;
  });

  mount(app, openOperatorLink, async ({ body, request }) => {
    const browser = cookieOf(request, linkCookie) ?? randomBytes(32).toString("base64url");
    const { email, secret: factor } = await openLink({ db, seal, needsSecondFactor }, body.link, {
      address: request.ip,
      browser,
    });
    cookies.set(request, linkCookie, browser);
    return {
      ...success,
      email,
      second_factor:
        factor === null
          ? null
          : { secret: factor, picture: factorPicture(factor, `${config.brand.name} operator`, email) },
    };
  });

  mount(app, spendOperatorLink, async ({ body, request }) => {
    const client = { address: request.ip, browser: cookieOf(request, linkCookie) ?? "" };
    const { operatorId, recoveryCodes } = await spendLink(
      { db, seal, needsSecondFactor },
      { code: body.link, password: body.password, factor: body.code },
      client,
    );
    await signIn(request, operatorId);
    return { ...success, recovery_codes: [...recoveryCodes] };
  });
}

/** Ties a link to the browser that opened it. */
const linkCookie = "operator-link";

/** Handlers of `mount` have no reply: their cookies wait in the request until it is sent. */
function cookieSetter(url: string) {
  return {
    set(request: FastifyRequest, name: string, value: string): void {
      request.cookiesToSet = [...(request.cookiesToSet ?? []), setCookie(url, name, value)];
    },
  };
}

declare module "fastify" {
  interface FastifyRequest {
    cookiesToSet?: readonly string[];
  }
}

/** Sends the cookies that the handlers of `sessionRoutes` set. */
export function sendCookies(app: FastifyInstance): void {
  app.addHook("onSend", async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.cookiesToSet) reply.header("set-cookie", [...request.cookiesToSet]);
  });
}
