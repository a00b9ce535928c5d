import { errorStatus } from "@berth/contract";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type infer as Infer,
  literal,
  maxLength,
  object,
  optional,
  safeParse,
  string,
  type ZodMiniType,
} from "zod/mini";
import { isLostConnection } from "../database/database.ts";
import { AppError } from "../errors.ts";
import { IdentityError } from "./identity.ts";
import type { Device } from "./local/sessions.ts";
import type { Tokens } from "./local/sign-ins.ts";
import type { LocalIdentity } from "./local.ts";

const tooMany = "TOO_MANY_ATTEMPTS_TRY_LATER";
const bodyLimit = 16_384;
const text = () => string().check(maxLength(4096));

/** The hosted provider's REST dialect, the calls our browser makes, under /identity (identity.md 3). */
export function identityRoutes(app: FastifyInstance, { identity }: { identity: LocalIdentity }): void {
  app.register(
    async (scope) => {
      scope.setErrorHandler(refuse);
      scope.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));
      accountRoutes(scope, identity);
      scope.get("/.well-known/jwks.json", async () => ({ keys: await identity.publishedKeys() }));
      scope.register(async (form) => tokenRoute(form, identity));
    },
    { prefix: "/identity" },
  );
}

function accountRoutes(scope: FastifyInstance, identity: LocalIdentity): void {
  // The doubled colon is the router's way to write one.
  post(scope, "/v1/accounts::signInWithPassword", object({ email: text(), password: text() }), async (body, device) =>
    signedIn(await identity.signIn(body.email, body.password, device)),
  );
  post(scope, "/v1/accounts::signInWithCustomToken", object({ token: text() }), async (body, device) =>
    signedIn(await identity.signInWithCustomToken(body.token, device)),
  );
  const reset = object({ oobCode: text(), newPassword: optional(text()) });
  post(scope, "/v1/accounts::resetPassword", reset, async ({ oobCode, newPassword }, { ip }) => ({
    requestType: "PASSWORD_RESET",
    ...(newPassword === undefined
      ? await identity.readResetCode(oobCode)
      : await identity.resetPassword(oobCode, newPassword, ip)),
  }));
  const update = object({ oobCode: optional(text()), idToken: optional(text()), password: optional(text()) });
  post(scope, "/v1/accounts::update", update, async ({ oobCode, idToken, password }, device) => {
    if (oobCode !== undefined) {
      const user = await identity.confirmEmail(oobCode);
      return { localId: user.uid, email: user.email, emailVerified: user.emailVerified };
    }
    if (idToken === undefined) throw new IdentityError("INVALID_ID_TOKEN");
    if (password === undefined) throw new IdentityError("WEAK_PASSWORD");
    return signedIn(await identity.changePassword(idToken, password, device));
  });
}

/** In a scope of its own: nowhere else is a form accepted (reliability.md 5). */
function tokenRoute(scope: FastifyInstance, identity: LocalIdentity): void {
  const contentType = "application/x-www-form-urlencoded";
  scope.addContentTypeParser(
    contentType,
    { parseAs: "string", bodyLimit },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  const grant = object({ grant_type: literal("refresh_token"), refresh_token: text() });
  post(scope, "/v1/token", grant, async ({ refresh_token }) => {
    const tokens = await identity.refresh(refresh_token);
    return {
      id_token: tokens.idToken,
      access_token: tokens.idToken,
      refresh_token: tokens.refreshToken,
      expires_in: String(tokens.expiresInSeconds),
      token_type: "Bearer",
      user_id: tokens.uid,
    };
  });
}

function post<Body extends ZodMiniType>(
  scope: FastifyInstance,
  path: string,
  schema: Body,
  answer: (body: Infer<Body>, device: Device) => Promise<object>,
): void {
  scope.post(path, { bodyLimit }, async (request) => {
    const body = safeParse(schema, request.body);
    if (!body.success) throw invalid(body.error.issues);
    return answer(body.data, { userAgent: request.headers["user-agent"], ip: request.ip });
  });
}

function signedIn({ uid, email, idToken, refreshToken, expiresInSeconds }: Tokens) {
  return { localId: uid, email, idToken, refreshToken, expiresIn: String(expiresInSeconds) };
}

function invalid(issues: readonly { path: PropertyKey[] }[]): AppError {
  const fields = new Set(issues.map(({ path }) => String(path[0] ?? "body")));
  return new AppError("invalid_request", `INVALID_ARGUMENT : ${[...fields].join(", ")}`);
}

/** Refusals in the dialect's own shape, whoever made them: the provider, our limits, or the reader of the body. */
function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message, retryAfterSeconds } = inDialect(error);
  if (status >= 500) request.log.error(error);
  if (retryAfterSeconds !== undefined) reply.header("retry-after", retryAfterSeconds);
  const errors = [{ message, domain: "global", reason: "invalid" }];
  return reply.code(status).send({ error: { code: status, message, errors } });
}

function inDialect(error: FastifyError): { status: number; message: string; retryAfterSeconds?: number | undefined } {
  if (error instanceof IdentityError) {
    const { code, retryAfterSeconds } = error;
    return { status: code === "UNAVAILABLE" ? 503 : code === tooMany ? 429 : 400, message: code, retryAfterSeconds };
  }
  if (isLostConnection(error)) return { status: 503, message: "UNAVAILABLE", retryAfterSeconds: 5 };
  const status = error instanceof AppError ? errorStatus[error.code] : (error.statusCode ?? 500);
  const retryAfterSeconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
  if (status >= 500) return { status, message: status === 503 ? "UNAVAILABLE" : "INTERNAL", retryAfterSeconds };
  if (status === 429) return { status, message: tooMany, retryAfterSeconds };
  return { status, message: error.message.startsWith("INVALID_ARGUMENT") ? error.message : "INVALID_ARGUMENT" };
}
