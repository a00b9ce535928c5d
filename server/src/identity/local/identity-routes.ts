import { errorStatus, isEmail, maxNameLength, typed } from "@berth/contract";
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
import { AppError } from "../../app-error.ts";
import { type Db, isLostConnection } from "../../database/database.ts";
import { IdentityError } from "../identity.ts";
import { updateProfile } from "../profiles.ts";
import type { Device } from "./auth-sessions.ts";
import type { LocalIdentity } from "./local-identity.ts";
import type { Tokens } from "./sign-ins.ts";

interface Parts {
  readonly db: Db;
  readonly identity: LocalIdentity;
}

const tooMany = "TOO_MANY_ATTEMPTS_TRY_LATER";
const bodyLimit = 16_384;
const text = () => string().check(maxLength(4096));

/** The hosted provider's REST dialect, the calls our browser and the hosted provider's SDK make, under /identity. */
export function identityRoutes(app: FastifyInstance, parts: Parts): void {
  app.register(
    async (scope) => {
      scope.setErrorHandler(refuse);
      // What the hosted provider has and this one does not.
      scope.setNotFoundHandler((_, reply) => void sendError(reply, 404, "OPERATION_NOT_ALLOWED"));
      scope.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));
      signInRoutes(scope, parts);
      accountRoutes(scope, parts);
      scope.get("/.well-known/jwks.json", async () => ({ keys: await parts.identity.publishedKeys() }));
      scope.register(async (form) => tokenRoute(form, parts));
    },
    { prefix: "/identity" },
  );
}

function signInRoutes(scope: FastifyInstance, { identity }: Parts): void {
  // The doubled colon is the router's way to write one.
  const signIn = object({ email: text(), password: optional(text()) });
  post(scope, "/v1/accounts::signInWithPassword", signIn, async ({ email, password = "" }, device) => {
    if (!isEmail(email.trim())) throw new IdentityError("INVALID_EMAIL");
    if (password === "") throw new IdentityError("MISSING_PASSWORD");
    return signedIn(await identity.signIn(email, password, device));
  });
  post(scope, "/v1/accounts::signInWithCustomToken", object({ token: text() }), async (body, device) =>
    signedIn(await identity.signInWithCustomToken(body.token, device)),
  );
}

function accountRoutes(scope: FastifyInstance, parts: Parts): void {
  const { identity } = parts;
  const reset = object({ oobCode: text(), newPassword: optional(text()) });
  post(scope, "/v1/accounts::resetPassword", reset, async ({ oobCode, newPassword }, { ip }) => ({
    requestType: "PASSWORD_RESET",
    ...(newPassword === undefined
      ? await identity.readResetCode(oobCode)
      : await identity.resetPassword(oobCode, newPassword, ip)),
  }));
  post(scope, "/v1/accounts::lookup", object({ idToken: text() }), async ({ idToken }) => {
    const user = await identity.verifyIdToken(idToken, { checkRevoked: true });
    const shown = { email: user.email, displayName: user.name };
    const providerUserInfo = [{ providerId: "password", federatedId: user.email, rawId: user.email, ...shown }];
    return { users: [{ localId: user.uid, ...shown, emailVerified: user.emailVerified, providerUserInfo }] };
  });
  const update = object({
    oobCode: optional(text()),
    idToken: optional(text()),
    password: optional(text()),
    displayName: optional(typed(maxNameLength)),
  });
  post(scope, "/v1/accounts::update", update, async ({ oobCode, idToken, password, displayName }, device) => {
    if (oobCode !== undefined) {
      const user = await identity.confirmEmail(oobCode);
      return { localId: user.uid, email: user.email, emailVerified: user.emailVerified };
    }
    if (idToken === undefined) throw new IdentityError("INVALID_ID_TOKEN");
    const named = displayName === undefined ? {} : await rename(parts, idToken, displayName.trim());
    if (password === undefined && displayName !== undefined) return named;
    return { ...named, ...signedIn(await identity.changePassword(idToken, password ?? "", device)) };
  });
}

/** The product shows the profile's name, so both change, as by its own call. */
async function rename({ db, identity }: Parts, idToken: string, name: string): Promise<object> {
  const { uid, email } = await identity.verifyIdToken(idToken, { checkRevoked: true });
  await identity.updateUser(uid, { name });
  await updateProfile(db, { id: uid, email, name }, { name });
  return { localId: uid, email, displayName: name };
}

/** In a scope of its own: nowhere else is a form accepted. */
function tokenRoute(scope: FastifyInstance, { identity }: Parts): void {
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
  return sendError(reply, status, message);
}

function sendError(reply: FastifyReply, status: number, message: string): FastifyReply {
  const errors = [{ message, domain: "global", reason: "invalid" }];
  return reply.code(status).send({ error: { code: status, message, errors } });
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}

function inDialect(error: FastifyError): Refusal {
  if (error instanceof IdentityError) return ofProvider(error);
  if (isLostConnection(error)) return { status: 503, message: "UNAVAILABLE", retryAfterSeconds: 5 };
  const status = error instanceof AppError ? errorStatus[error.code] : (error.statusCode ?? 500);
  const retryAfterSeconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
  if (status >= 500) return { status, message: status === 503 ? "UNAVAILABLE" : "INTERNAL", retryAfterSeconds };
  if (status === 429) return { status, message: tooMany, retryAfterSeconds };
  return { status, message: error.message.startsWith("INVALID_ARGUMENT") ? error.message : "INVALID_ARGUMENT" };
}

function ofProvider({ code, retryAfterSeconds }: IdentityError): Refusal {
  if (code === "UNAVAILABLE") return { status: 503, message: code, retryAfterSeconds };
  if (code === tooMany) return { status: 429, message: code, retryAfterSeconds };
  // The dialect has one word for a sign-in that is over.
  return { status: 400, message: code === "TOKEN_REVOKED" ? "TOKEN_EXPIRED" : code };
}
