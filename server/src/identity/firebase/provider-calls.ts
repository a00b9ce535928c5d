import { importPKCS8, SignJWT } from "jose";
import type { ServiceAccount } from "../../config/firebase-settings.ts";
import { IdentityError, type IdentityErrorCode } from "../identity.ts";
import type { FirebaseProject, ProviderUrls } from "./firebase-project.ts";

type Reply = Readonly<Record<string, unknown>>;

/** Calls of the provider's REST API. They throw IdentityError, UNAVAILABLE where it is away or refuses the server itself. */
export interface ProviderCalls {
  /** As the project's administrator; `method` such as `:lookup`, empty to create an account. */
  admin(method: string, body: object): Promise<Reply>;
  /** As a browser does. */
  client(method: string, body: object): Promise<Reply>;
}

/** No such account at the provider. */
export function isUnknown(error: unknown): boolean {
  return error instanceof IdentityError && error.code === "USER_NOT_FOUND";
}

/** For `catch`: an account that is gone is no failure. */
export function unlessUnknown(error: unknown): void {
  if (!isUnknown(error)) throw error;
}

const timeoutMs = 10_000;

export function providerCalls(project: FirebaseProject, urls: ProviderUrls): ProviderCalls {
  const accessToken = accessTokens(project, urls.oauth);
  return {
    async admin(method, body) {
      const authorization = `Bearer ${await accessToken()}`;
      const url = `${urls.accounts}/projects/${project.projectId}/accounts${method}`;
      return post(url, JSON.stringify(body), { ...json, authorization });
    },
    client: (method, body) =>
      post(`${urls.accounts}/accounts${method}?key=${project.apiKey}`, JSON.stringify(body), json),
  };
}

const json = { "content-type": "application/json" };

/** A token of the service account, renewed five minutes before it ends. The emulator knows one word. */
function accessTokens({ serviceAccount }: FirebaseProject, url: string): () => Promise<string> {
  if (!serviceAccount) return async () => "owner";
  let held: { readonly token: Promise<string>; readonly until: number } | undefined;
  return async () => {
    if (!held || held.until <= Date.now())
      held = { token: askFor(serviceAccount, url), until: Date.now() + 55 * 60_000 };
    const asked = held;
    return asked.token.catch((error: unknown) => {
      if (held === asked) held = undefined;
      throw error;
    });
  };
}

async function askFor(account: ServiceAccount, url: string): Promise<string> {
  const scope = "https://www.googleapis.com/auth/identitytoolkit https://www.googleapis.com/auth/cloud-platform";
  const assertion = await signAsAccount(account, { scope }, url, "1h");
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const { access_token: token } = await post(url, form, {});
  if (typeof token !== "string") throw new IdentityError("UNAVAILABLE");
  return token;
}

/** A JWT of the service account. */
export async function signAsAccount(
  { clientEmail, privateKey }: ServiceAccount,
  claims: Readonly<Record<string, unknown>>,
  audience: string,
  lifetime: string,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", typ: "JWT" })
    .setIssuer(clientEmail)
    .setSubject(clientEmail)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(lifetime)
    .sign(await importPKCS8(privateKey, "RS256"));
}

async function post(url: string, body: string | URLSearchParams, headers: Record<string, string>): Promise<Reply> {
  const request = { method: "POST", headers, body, redirect: "error", signal: AbortSignal.timeout(timeoutMs) } as const;
  try {
    const response = await fetch(url, request);
    const reply = (await response.json()) as Reply;
    if (response.ok) return reply;
    throw refusal(response.status, reply);
  } catch (cause) {
    throw cause instanceof IdentityError ? cause : new IdentityError("UNAVAILABLE", { cause });
  }
}

/** The provider's codes that have another name here; unknown ones say that the server is not configured well. */
const codes: Readonly<Record<string, IdentityErrorCode>> = {
  EMAIL_EXISTS: "EMAIL_EXISTS",
  DUPLICATE_EMAIL: "EMAIL_EXISTS",
  INVALID_EMAIL: "INVALID_EMAIL",
  WEAK_PASSWORD: "WEAK_PASSWORD",
  PASSWORD_DOES_NOT_MEET_REQUIREMENTS: "WEAK_PASSWORD",
  INVALID_LOGIN_CREDENTIALS: "INVALID_LOGIN_CREDENTIALS",
  INVALID_PASSWORD: "INVALID_LOGIN_CREDENTIALS",
  EMAIL_NOT_FOUND: "USER_NOT_FOUND",
  USER_NOT_FOUND: "USER_NOT_FOUND",
  USER_DISABLED: "USER_DISABLED",
  TOO_MANY_ATTEMPTS_TRY_LATER: "TOO_MANY_ATTEMPTS_TRY_LATER",
};

/** Messages are `CODE`, or `CODE : text`. */
function refusal(status: number, reply: Reply): IdentityError {
  const message = String((reply["error"] as { message?: unknown } | undefined)?.message ?? status);
  const code = codes[/^[A-Z_]+/.exec(message)?.[0] ?? ""];
  return new IdentityError(code ?? "UNAVAILABLE", { cause: new Error(`the identity provider answered ${message}`) });
}
