import { finishProviderSignIn } from "@berth/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import { mount, success } from "../../http/mount.ts";
import { cookieOf } from "../../http/request-user.ts";
import { emailKey } from "../email-key.ts";
import type { LocalIdentity } from "../local/local-identity.ts";
import { openProfile } from "../profiles.ts";
import { refuse } from "../refusal-of.ts";
import { type Answered, providerAttempts, secretText } from "./attempts.ts";
import { linkTickets } from "./link-tickets.ts";
import { enterBy } from "./links.ts";
import type { SignInProviders } from "./open-providers.ts";
import { type ProviderAccount, ProviderError, type SignInProvider } from "./sign-in-provider.ts";

export interface ProviderRoutesDeps {
  readonly db: Db;
  readonly identity: Pick<LocalIdentity, "createCustomToken">;
  readonly providers: SignInProviders;
  /** The installation's. */
  readonly secret: Buffer;
  /** Base URL of what providers lead back to: from the settings, never from a request's Host. */
  readonly appUrl: string;
  /** The seller's address, which a suspended account is told to write to (G119). */
  readonly contact: string;
  readonly onSignUp: Parameters<typeof openProfile>[2];
}

/**
 * Sign-ins by other providers: to the provider, back, and the end of it by the app's page, which alone can send the
 * browser's cookie and get tokens (docs/internals/identity.md). What a provider refuses is a sentence on that page.
 */
export function providerRoutes(app: FastifyInstance, deps: ProviderRoutesDeps): void {
  app.get("/auth/providers/:key/start", (request, reply) => start(deps, request, reply));
  app.get("/auth/providers/:key/callback", (request, reply) => comeBack(deps, request, reply));
  mount(app, finishProviderSignIn, ({ body, request }) => finish(deps, body.code, request));
}

const cookieSeconds = 15 * 60;

async function start(deps: ProviderRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { providers, appUrl, db, secret } = deps;
  const { key } = request.params as { key: string };
  const { return_to: wanted, link } = request.query as Record<string, unknown>;
  const provider = providers.find(key);
  const linkUser = typeof link === "string" ? linkTickets(secret).read(link, key) : null;
  if (!provider || linkUser === undefined) return fail(reply, { error: "expired", key, linkUser: linkUser ?? null });
  // One for all tabs of a browser, so that two sign-ins do not end each other.
  const browser = browserOf(request, appUrl) ?? secretText();
  try {
    const returnTo = ownPath(wanted);
    const attempt = await providerAttempts(db, secret).open({ provider: key, browser, returnTo, linkUser });
    const url = await provider.authorizeUrl(redirectUri(appUrl, key), attempt);
    return reply.header("set-cookie", cookie(appUrl, browser)).header("cache-control", "no-store").redirect(url, 302);
  } catch (error) {
    return fail(reply, { error: problemOf(request, provider, error), key, linkUser });
  }
}

async function comeBack(deps: ProviderRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { providers, appUrl, db, secret } = deps;
  const { key } = request.params as { key: string };
  const answer = new URL(request.url, appUrl);
  const state = answer.searchParams.get("state") ?? "";
  const provider = providers.find(key);
  if (!provider) return fail(reply, { error: "expired", key, linkUser: null });
  const attempts = providerAttempts(db, secret);
  const answered: Answered = await attempts.answered({
    ...{ state, provider: key },
    browser: browserOf(request, appUrl) ?? "",
  });
  const { linkUser } = answered;
  if ("problem" in answered) return fail(reply, { error: answered.problem, key, linkUser });
  try {
    const uri = new URL(redirectUri(appUrl, key));
    uri.search = answer.search;
    const account = await provider.exchange(uri, answered.attempt);
    const refusal = domainProblem(provider, account);
    if (refusal) return fail(reply, { error: refusal, key, linkUser });
    const code = await attempts.keep(state, account);
    const page = linkUser === null ? `/login?from=${encodeURIComponent(answered.returnTo)}` : settingsPage;
    return reply.header("cache-control", "no-store").redirect(`${page}#provider=${code}`, 302);
  } catch (error) {
    return fail(reply, { error: problemOf(request, provider, error), key, linkUser });
  }
}

const settingsPage = "/settings?tab=security";

/** A known account of the provider, or a new one with its confirmed address. */
async function finish(
  { db, identity, providers, secret, ...deps }: ProviderRoutesDeps,
  code: string,
  request: FastifyRequest,
) {
  const browser = browserOf(request, deps.appUrl) ?? "";
  const taken = await providerAttempts(db, secret).take({ code, browser, linkUser: null });
  const provider = taken && providers.find(taken.provider);
  if (!provider) throw overdue();
  const { user, isNew } = await enterBy(db, provider, taken.account);
  if (user.disabled)
    throw new AppError("account_held", `This account is suspended. Write to ${deps.contact} if that is a mistake.`);
  const accessToken = await identity.createCustomToken(user.id, provider.issuer).catch(refuse);
  if (isNew) {
    await openProfile(db, { id: user.id, email: user.email, name: user.name ?? "" }, deps.onSignUp);
    request.log.info({ event: "user.signed_up", userId: user.id, provider: provider.key }, "account created");
  }
  return { ...success, access_token: accessToken, email: user.email };
}

/** Of a code that is not known, used, too old or another browser's. */
export function overdue(): AppError {
  return new AppError("action_not_allowed", "This took too long, or was begun in another browser. Begin again.");
}

type Failure = "expired" | "browser" | "denied" | "away" | "unproven" | "address" | "domain";

/** To the page where it began, with a code of which the page makes a sentence. */
function fail(
  reply: FastifyReply,
  { error, key, linkUser }: { readonly error: Failure; readonly key: string; readonly linkUser: string | null },
): FastifyReply {
  const page = linkUser === null ? "/login?" : `${settingsPage}&`;
  return reply
    .header("cache-control", "no-store")
    .redirect(`${page}${new URLSearchParams({ error, provider: key.slice(0, 20) })}`, 302);
}

function domainProblem({ domains }: SignInProvider, { email }: ProviderAccount): Failure | undefined {
  if (domains.length === 0) return undefined;
  if (email === null) return "address";
  return domains.includes(emailKey(email).split("@").at(-1) ?? "") ? undefined : "domain";
}

/** Says in the log what the page does not. */
function problemOf(request: FastifyRequest, { key, issuer }: SignInProvider, error: unknown): Failure {
  if (!(error instanceof ProviderError)) throw error;
  const { problem, message } = error;
  const what = { provider: key, issuer, problem };
  if (problem === "denied") request.log.info({ event: "provider.sign_in_failed", ...what }, message);
  else request.log.warn({ event: "provider.sign_in_failed", ...what, cause: textOf(error.cause) }, message);
  return problem === "clock" ? "unproven" : problem;
}

/** Of the library's errors only the text: they hold tokens. */
function textOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const deeper = textOf(cause.cause);
  return deeper === undefined ? cause.message : `${cause.message}: ${deeper}`;
}

function redirectUri(appUrl: string, key: string): string {
  return `${appUrl}/auth/providers/${key}/callback`;
}

/** Only a path of this app: `//host` and `/\host` would leave it. */
function ownPath(wanted: unknown): string {
  return typeof wanted === "string" && wanted.length < 1000 && /^\/(?![/\\])[\x20-\x7e]*$/.test(wanted)
    ? wanted
    : "/dashboard";
}

/** With TLS the browser itself binds it to this host. */
function cookieName(appUrl: string): string {
  return `${appUrl.startsWith("https:") ? "__Host-" : ""}provider-sign-in`;
}

export function browserOf(request: FastifyRequest, appUrl: string): string | undefined {
  const held = cookieOf(request, cookieName(appUrl));
  return held !== undefined && /^[\w-]{43}$/.test(held) ? held : undefined;
}

/** Lax: it comes along when the provider leads back. */
function cookie(appUrl: string, browser: string): string {
  const secure = appUrl.startsWith("https:") ? "; Secure" : "";
  return `${cookieName(appUrl)}=${browser}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${cookieSeconds}${secure}`;
}
