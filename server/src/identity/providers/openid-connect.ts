import type * as OpenidClient from "openid-client";
import type { OidcConfig } from "../../config/provider-settings.ts";
import { type Attempt, type ProviderAccount, ProviderError, type SignInProvider } from "./sign-in-provider.ts";

type Library = typeof OpenidClient;

const timeoutSeconds = 10;
const metadataMs = 3_600_000;
/** Clocks may differ so much. */
const toleranceSeconds = 60;

/**
 * A provider of OpenID Connect: authorization code with PKCE, state and nonce, and a verified signature. Its addresses are
 * read at the first sign-in and kept for an hour, its keys at each one, so that it may change them at any time (G417).
 */
export function openidConnect(config: OidcConfig): SignInProvider {
  let known: { readonly metadata: OpenidClient.ServerMetadata; readonly until: number } | undefined;

  const clientOf = async (library: Library): Promise<OpenidClient.Configuration> => {
    if (!known || known.until < Date.now()) {
      const metadata = await discover(library, config);
      known = { metadata, until: Date.now() + metadataMs };
    }
    return configure(library, config, known.metadata);
  };

  return {
    ...{ key: config.key, name: config.name, issuer: config.issuer, domains: config.domains },

    async authorizeUrl(redirectUri, { state, nonce, verifier }) {
      const library = await import("openid-client");
      const client = await clientOf(library);
      const url = library.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: "openid email profile",
        ...{ state, nonce },
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return url.href;
    },

    async exchange(answer, attempt) {
      const library = await import("openid-client");
      const client = await clientOf(library);
      return await read(library, client, answer, attempt).catch((error: unknown) => {
        throw error instanceof ProviderError ? error : problemOf(library, error);
      });
    },
  };
}

async function discover(library: Library, { issuer, clientId }: OidcConfig): Promise<OpenidClient.ServerMetadata> {
  const execute = isPlain(issuer) ? [library.allowInsecureRequests] : [];
  const found = await library
    .discovery(new URL(issuer), clientId, undefined, undefined, { execute, timeout: timeoutSeconds })
    .catch((cause: unknown) => {
      throw new ProviderError("away", `${issuer} does not say where it signs people in`, { cause });
    });
  return found.serverMetadata();
}

function configure(
  library: Library,
  { issuer, clientId, clientSecret }: OidcConfig,
  metadata: OpenidClient.ServerMetadata,
): OpenidClient.Configuration {
  // A client is registered for the one unless it is said otherwise, and some providers take no other.
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const proof = methods.includes("client_secret_basic") ? library.ClientSecretBasic : library.ClientSecretPost;
  const tolerant = { [library.clockTolerance]: toleranceSeconds };
  const client = new library.Configuration(metadata, clientId, tolerant, proof(clientSecret));
  client.timeout = timeoutSeconds;
  library.enableNonRepudiationChecks(client);
  if (isPlain(issuer)) library.allowInsecureRequests(client);
  return client;
}

async function read(
  library: Library,
  client: OpenidClient.Configuration,
  answer: URL,
  { state, nonce, verifier, startedAt }: Attempt,
): Promise<ProviderAccount> {
  const tokens = await library.authorizationCodeGrant(client, answer, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new ProviderError("unproven", "the answer has no ID token");
  checkClock(claims.iat, startedAt);
  const more =
    claims["email"] === undefined && client.serverMetadata().userinfo_endpoint !== undefined
      ? await library.fetchUserInfo(client, tokens.access_token, claims.sub)
      : {};
  return accountOf({ ...more, ...claims });
}

function accountOf({ sub, ...claims }: { readonly sub: string; readonly [claim: string]: unknown }): ProviderAccount {
  const { email, email_verified: verified, name } = claims;
  // Some providers write it as a text.
  const isVerified = verified === true || verified === "true";
  return {
    subject: sub,
    email: typeof email === "string" && isVerified ? email : null,
    name: typeof name === "string" ? name : "",
  };
}

/** An ID token is made between our question and now. */
function checkClock(issuedAt: number, startedAt: number): void {
  const [from, to] = [startedAt / 1000 - toleranceSeconds, Date.now() / 1000 + toleranceSeconds];
  if (issuedAt < from || issuedAt > to) throw clockProblem(`an ID token of ${new Date(issuedAt * 1000).toISOString()}`);
}

function clockProblem(what: string, cause?: unknown): ProviderError {
  const now = new Date().toISOString();
  return new ProviderError("clock", `${what} came at ${now}: the provider's clock or this machine's is wrong`, {
    cause,
  });
}

const passing: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);

function problemOf(library: Library, error: unknown): ProviderError {
  const of = (problem: ProviderError["problem"], what: string) =>
    new ProviderError(problem, `${what}: ${error instanceof Error ? error.message : error}`, { cause: error });
  if (error instanceof library.AuthorizationResponseError)
    return passing.has(error.error) ? of("away", error.error) : of("denied", error.error);
  if (error instanceof library.ResponseBodyError)
    return error.status >= 500 ? of("away", error.error) : of("unproven", error.error);
  const { code = "", cause } = error as { code?: string; cause?: unknown };
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return clockProblem("an ID token that does not count", error);
  const status = cause instanceof Response ? cause.status : 0;
  const silent = error instanceof TypeError || code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT" || status >= 500;
  return silent ? of("away", "no answer") : of("unproven", "the answer is not right");
}

function isPlain(issuer: string): boolean {
  return issuer.startsWith("http:");
}
