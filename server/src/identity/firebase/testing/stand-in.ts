import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, exportPKCS8, generateKeyPair, type JWTPayload, SignJWT } from "jose";

const projectId = "berth-test";

export interface AccountThere {
  readonly localId: string;
  email: string;
  emailVerified?: boolean;
  disabled?: boolean;
  /** Seconds, as text. */
  validSince: string;
}

/** Stands in for what Google alone runs: published keys, signed tokens, a service account, and outages on demand. */
export async function startStandIn() {
  const there = {
    keys: [await newKey()],
    accounts: new Map<string, AccountThere>(),
    counts: { keys: 0, lookups: 0, deleted: [] as string[] },
    state: { isAway: false, maxAgeSeconds: 3600 },
  };
  const server = createServer(async (request, response) => {
    const { status, headers = {}, body } = answerTo(there, request, await text(request));
    response.writeHead(status, headers).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await generateKeyPair("RS256", { extractable: true });
  return {
    ...there,
    urls: { accounts: `${at}/v1`, token: `${at}/token`, oauth: `${at}/oauth`, keys: `${at}/keys` },
    project: {
      ...{ projectId, apiKey: "any", emulator: undefined },
      serviceAccount: { clientEmail: "server@berth.example", privateKey: await exportPKCS8(service.privateKey) },
    },
    publicKey: () => there.keys[0]?.jwk,
    async replaceKeys() {
      there.keys = [await newKey()];
    },
    newAccount(email: string): AccountThere {
      const account = { localId: randomBytes(14).toString("hex"), email, validSince: "0" };
      there.accounts.set(account.localId, account);
      return account;
    },
    token: (uid: string, changed?: ChangedClaims) => signToken(there.keys[0] as Key, uid, changed),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface There {
  readonly keys: readonly Key[];
  readonly accounts: Map<string, AccountThere>;
  readonly counts: { keys: number; lookups: number; deleted: string[] };
  readonly state: { isAway: boolean; maxAgeSeconds: number };
}

function answerTo(there: There, { url = "", headers }: IncomingMessage, text: string): Answer {
  if (there.state.isAway) return { status: 503, body: {} };
  if (url === "/oauth") return { status: 200, body: { access_token: "administrator" } };
  if (url === "/keys") {
    there.counts.keys += 1;
    const caching = { "cache-control": `public, max-age=${there.state.maxAgeSeconds}, must-revalidate` };
    return { status: 200, headers: caching, body: { keys: there.keys.map(({ jwk }) => jwk) } };
  }
  const method = url.slice(`/v1/projects/${projectId}/accounts`.length);
  if (headers.authorization !== "Bearer administrator") return { status: 403, body: {} };
  return { status: 200, body: accountsAnswer(there, method, JSON.parse(text)) };
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

function accountsAnswer(
  { accounts, counts }: There,
  method: string,
  { localId, disableUser }: { localId: unknown; disableUser?: boolean },
): object {
  const id = String(localId);
  const found = accounts.get(id);
  if (method === ":lookup") {
    counts.lookups += 1;
    return found ? { users: [found] } : {};
  }
  if (method === ":delete") {
    counts.deleted.push(id);
    accounts.delete(id);
  }
  if (found && disableUser !== undefined) found.disabled = disableUser;
  return {};
}

type ChangedClaims = JWTPayload & { readonly authTime?: number };

/** A token as the provider signs it; the claims of `changed` differ, undefined ones are missing. */
async function signToken({ privateKey, jwk }: Key, uid: string, changed: ChangedClaims = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { authTime = now, ...rest } = changed;
  return await new SignJWT({
    ...{ iss: `https://securetoken.google.com/${projectId}`, aud: projectId, sub: uid },
    ...{ auth_time: authTime, iat: now, exp: now + 3600, ...rest },
  })
    .setProtectedHeader({ alg: "RS256", kid: jwk.kid, typ: "JWT" })
    .sign(privateKey);
}

type Key = Awaited<ReturnType<typeof newKey>>;

async function newKey() {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const kid = randomBytes(6).toString("hex");
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } };
}
