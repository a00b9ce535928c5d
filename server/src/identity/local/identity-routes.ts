import { errorStatus, isEmail, maxNameLength, typed } from "@berth/contract";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  boolean,
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
import { isLostConnection } from "../../database/connection.ts";
import type { Db } from "../../database/database.ts";
import { deviceOf } from "../device-of.ts";
import { type Device, IdentityError } from "../identity.ts";
import { updateProfile } from "../profiles.ts";
import type { LocalIdentity } from "./local-identity.ts";
import type { HalfSignIn, Tokens } from "./sign-ins.ts";

interface IdentityRoutesDeps {
  readonly db: Db;
  readonly identity: LocalIdentity;
  /** The seller's address, which a suspended account is told to write to (G119). */
  readonly contact: string;
}

const tooMany = "TOO_MANY_ATTEMPTS_TRY_LATER";
const bodyLimit = 16_384;
const text = () => string().check(maxLength(4096));

/** The subset of Firebase's REST API that our browser app and Firebase's SDK call, under /identity. */
export function identityRoutes(app: FastifyInstance, deps: IdentityRoutesDeps): void {
  app.register(
    async (scope) => {
      scope.setErrorHandler((error: FastifyError, request, reply) => refuse(error, request, reply, deps.contact));
      // Calls of Firebase that this provider does not have.
      scope.setNotFoundHandler((_, reply) => void sendError(reply, 404, "OPERATION_NOT_ALLOWED"));
      scope.addHook("onSend", async (_request, reply) => void reply.header("cache-control", "no-store"));
      signInRoutes(scope, deps);
      accountRoutes(scope, deps);
      scope.get("/.well-known/jwks.json", async () => ({ keys: await deps.identity.publishedKeys() }));
      scope.register(async (form) => tokenRoute(form, deps));
    },
    { prefix: "/identity" },
  );
}

function signInRoutes(scope: FastifyInstance, { identity }: IdentityRoutesDeps): void {
  // The router escapes a colon by doubling it.
  const signIn = object({ email: text(), password: optional(text()), trustedBrowser: optional(text()) });
  post(scope, "/v1/accounts::signInWithPassword", signIn, async ({ email, password = "", ...trust }, device) => {
    if (!isEmail(email.trim())) throw new IdentityError("INVALID_EMAIL");
    if (password === "") throw new IdentityError("MISSING_PASSWORD");
    return begun(await identity.signIn(email, password, device, trust));
  });
  const custom = object({ token: text(), trustedBrowser: optional(text()) });
  post(scope, "/v1/accounts::signInWithCustomToken", custom, async ({ token, ...trust }, device) =>
    begun(await identity.signInWithCustomToken(token, device, trust)),
  );
  const withCode = object({
    mfaPendingCredential: text(),
    totpVerificationInfo: object({ verificationCode: text() }),
    // Ours: not asked again in this browser for 30 days (G401).
    trustBrowser: optional(boolean()),
  });
  post(scope, "/v2/accounts/mfaSignIn::finalize", withCode, async (body, device) => {
    const { mfaPendingCredential, totpVerificationInfo, ...trust } = body;
    const tokens = await identity.finishSignIn(
      mfaPendingCredential,
      totpVerificationInfo.verificationCode,
      device,
      trust,
    );
    return { ...signedIn(tokens), ...(tokens.trustedBrowser && { trustedBrowser: tokens.trustedBrowser }) };
  });
}

function accountRoutes(scope: FastifyInstance, deps: IdentityRoutesDeps): void {
  const { identity } = deps;
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
    const named = displayName === undefined ? {} : await rename(deps, idToken, displayName.trim());
    if (password === undefined && displayName !== undefined) return named;
    return { ...named, ...signedIn(await identity.changePassword(idToken, password ?? "", device)) };
  });
}

/** Changes the profile's name too, which the product shows. */
async function rename({ db, identity }: IdentityRoutesDeps, idToken: string, name: string): Promise<object> {
  const { uid, email } = await identity.verifyIdToken(idToken, { checkRevoked: true });
  await identity.updateUser(uid, { name });
  await updateProfile(db, { id: uid, email, name }, { name });
  return { localId: uid, email, displayName: name };
}

/** In a scope of its own, because only this call accepts a form. */
function tokenRoute(scope: FastifyInstance, { identity }: IdentityRoutesDeps): void {
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
  handle: (body: Infer<Body>, device: Device) => Promise<object>,
): void {
  scope.post(path, { bodyLimit }, async (request) => {
    const body = safeParse(schema, request.body);
    if (!body.success) throw invalid(body.error.issues);
    return handle(body.data, deviceOf(request));
  });
}

/** As Google answers for an account with a second factor: no token, but what the code is sent with. */
function begun(reply: Tokens | HalfSignIn) {
  if (!("pendingCredential" in reply)) return signedIn(reply);
  const { uid, email, pendingCredential, factorSince, hasPasskeys } = reply;
  const app = { mfaEnrollmentId: "totp", displayName: "Authenticator app", totpInfo: {} };
  // Ours: not for the second step, but instead of both (G424).
  const passkeys = hasPasskeys ? [{ mfaEnrollmentId: "passkey", displayName: "Passkey" }] : [];
  return {
    localId: uid,
    email,
    mfaPendingCredential: pendingCredential,
    mfaInfo: [{ ...app, enrolledAt: factorSince.toISOString() }, ...passkeys],
  };
}

function signedIn({ uid, email, idToken, refreshToken, expiresInSeconds }: Tokens) {
  return { localId: uid, email, idToken, refreshToken, expiresIn: String(expiresInSeconds) };
}

function invalid(issues: readonly { path: PropertyKey[] }[]): AppError {
  const fields = new Set(issues.map(({ path }) => String(path[0] ?? "body")));
  return new AppError("invalid_request", `INVALID_ARGUMENT : ${[...fields].join(", ")}`);
}

/** Renders all errors in Firebase's format: the provider's, rate limits, and body parsing. */
function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply, contact: string): FastifyReply {
  const { status, message, retryAfterSeconds } = inDialect(error, contact);
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

function inDialect(error: FastifyError, contact: string): Refusal {
  if (error instanceof IdentityError) return ofProvider(error, contact);
  if (isLostConnection(error)) return { status: 503, message: "UNAVAILABLE", retryAfterSeconds: 5 };
  const status = error instanceof AppError ? errorStatus[error.code] : (error.statusCode ?? 500);
  const retryAfterSeconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
  if (status >= 500) return { status, message: status === 503 ? "UNAVAILABLE" : "INTERNAL", retryAfterSeconds };
  if (status === 429) return { status, message: tooMany, retryAfterSeconds };
  return { status, message: error.message.startsWith("INVALID_ARGUMENT") ? error.message : "INVALID_ARGUMENT" };
}

function ofProvider({ code, retryAfterSeconds }: IdentityError, contact: string): Refusal {
  if (code === "UNAVAILABLE") return { status: 503, message: code, retryAfterSeconds };
  if (code === tooMany) return { status: 429, message: code, retryAfterSeconds };
  if (code === "USER_DISABLED")
    return { status: 400, message: `${code} : This account is suspended. Write to ${contact} if that is a mistake.` };
  // Firebase has one code for both.
  return { status: 400, message: code === "TOKEN_REVOKED" ? "TOKEN_EXPIRED" : code };
}
