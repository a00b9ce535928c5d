import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";

/** An account at the provider. */
export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean | string;
  readonly name?: string;
}

interface State {
  /** Who presses the button; null: who refuses. */
  person: Person | null;
  /** What is wrong with ID tokens, each signed again. */
  claims: JWTPayload;
  /** Answers nothing but 503. */
  isAway: boolean;
}

const client = { client_id: "berth", client_secret: "a secret of the client, long enough" };

/** The certified provider of the npm package oidc-provider, with one button as its login. */
export async function oidcCounterpart(appUrl: string, key = "1") {
  const state: State = { person: { sub: "ada" }, claims: {}, isAway: false };
  const people = new Map<string, Person>();
  let provider: Provider;
  const server = createServer((request, response) => {
    if (state.isAway) response.writeHead(503).end();
    else if (request.url?.startsWith("/login/")) void logIn(provider, request, response, { state, people });
    else provider.callback()(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = async (kid: string, url = appUrl) => {
    const redirectUri = `${url}/auth/providers/${key}/callback`;
    return openProvider({ issuer, redirectUri, state, people, jwk: await newKey(kid) });
  };
  provider = await open("first");

  return {
    issuer,
    state,
    env: {
      [`OIDC_${key}_ISSUER`]: issuer,
      [`OIDC_${key}_CLIENT_ID`]: client.client_id,
      [`OIDC_${key}_CLIENT_SECRET`]: client.client_secret,
      [`OIDC_${key}_NAME`]: "Uni",
    },
    /** Signs with a new key from now on, and no longer publishes the former one. */
    async rollKeys() {
      provider = await open("second");
    },
    /** Leads back there from now on. */
    async moveTo(url: string) {
      provider = await open("moved", url);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Opened {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly state: State;
  readonly people: ReadonlyMap<string, Person>;
  readonly jwk: JWK;
}

function openProvider({ issuer, redirectUri, state, people, jwk }: Opened): Provider {
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [redirectUri] }],
    jwks: { keys: [jwk] },
    cookies: { keys: ["a key of the cookies"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/login/${uid}` },
    findAccount: async (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => people.get(sub) ?? { sub },
    }),
    loadExistingGrant,
    ttl: { AccessToken: 3600, AuthorizationCode: 3600, Grant: 3600, IdToken: 3600, Interaction: 3600, Session: 3600 },
  });
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path === "/token" && body?.id_token && Object.keys(state.claims).length > 0)
      body.id_token = await signedAgain(body.id_token, jwk, state.claims);
  });
  return provider;
}

/** Asks nobody for consent. */
async function loadExistingGrant({ oidc }: Parameters<Parameters<Provider["use"]>[0]>[0]) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
  grant.addOIDCScope("openid email profile");
  await grant.save();
  return grant;
}

const loginPage = `<!doctype html><title>Uni</title>
<form method="post"><button>Sign in at the university</button></form>`;

async function logIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  { state, people }: { readonly state: State; readonly people: Map<string, Person> },
): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(200, { "content-type": "text/html" }).end(loginPage);
  const { person } = state;
  if (person) people.set(person.sub, person);
  const result = person ? { login: { accountId: person.sub } } : { error: "access_denied" };
  await provider.interactionFinished(request, response, result);
}

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

async function signedAgain(token: string, jwk: JWK, change: JWTPayload): Promise<string> {
  const [head = "", payload = ""] = token.split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  return await new SignJWT({ ...read(payload), ...change })
    .setProtectedHeader(read(head))
    .sign(await importJWK(jwk, "RS256"));
}
