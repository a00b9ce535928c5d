import { createSecretKey, hkdfSync } from "node:crypto";
import { generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { sql } from "kysely";
import { newId } from "../../database/new-id.ts";
import { localDeps } from "../../identity/local/local-deps.ts";
import { announceByBell } from "../../notifications/notifications.ts";
import { removeOperator, resetOperator } from "../../operator/accounts/add-operator.ts";
import { operatorSessions } from "../../operator/console/operator-sessions.ts";
import { suspendUser } from "../../operator/people/suspend-user.ts";
import { appUrl, secret } from "../../testing/test-app.ts";
import type { World } from "./setup-access.ts";

/** What a caller shows instead of what a call asks for, by the caller's name. */
export type Shown<Credential> = readonly (readonly [name: string, credential: Credential])[];

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const cli = { actor: "cli:test", reason: "Scans" };

/** Tokens that an attacker could have or make; each is refused wherever a token of a tenant is asked for. */
export async function refusedTokens(world: World): Promise<Shown<string>> {
  const { db, victim, outsider, rented, shareCode } = world;
  const { keys } = localDeps({ db, secret, appUrl, limits: { signInsPerMinute: 1 } });
  const { key, kid } = await keys.current();
  const [head = "", payload = "", signature = ""] = victim.token.split(".");
  const claims: JWTPayload = JSON.parse(Buffer.from(payload, "base64url").toString());
  const header = { alg: "RS256", kid, typ: "JWT" };
  const sign = (change: JWTPayload, own = header) =>
    new SignJWT({ ...claims, ...change }).setProtectedHeader(own).sign(key);
  const now = Math.floor(Date.now() / 1000);
  const [published] = (await world.call("GET", "/identity/.well-known/jwks.json")).json().keys;
  const publicKey = createSecretKey(Buffer.from(published.n, "base64url"));
  const { sid, ...withoutSession } = claims;
  const tokens = {
    garbage: "garbage",
    "three parts": "a.b.c",
    expired: await sign({ iat: now - 7200, exp: now - 120 }),
    "not yet signed": await sign({ nbf: now + 3600 }),
    "another user in it": `${head}.${encode({ ...claims, sub: outsider.id })}.${signature}`,
    "another signature": `${head}.${payload}.${outsider.token.split(".")[2]}`,
    "no signature": `${head}.${payload}.`,
    "alg none": `${encode({ alg: "none", typ: "JWT" })}.${payload}.`,
    "signed with the public key": await new SignJWT(claims)
      .setProtectedHeader({ ...header, alg: "HS256" })
      .sign(publicKey),
    "another installation": await new SignJWT(claims)
      .setProtectedHeader(header)
      .sign((await generateKeyPair("RS256")).privateKey),
    "another key id": await sign({}, { ...header, kid: newId() }),
    "another audience": await sign({ aud: "another" }),
    "another issuer": await sign({ iss: "https://securetoken.google.com/berth" }),
    "another type": await sign({}, { ...header, typ: "custom" }),
    "without a session": await new SignJWT(withoutSession).setProtectedHeader(header).sign(key),
    "the session of another": await sign({ sub: outsider.id }),
    "a refresh token": victim.refreshToken,
    "the environment's own secret": rented.jupyter_token,
    "a guest's share link": shareCode,
    "an operator's sign-in": await (await operatorsOf(world)).open(),
    ...(await endedSignIns(world)),
  };
  return Object.entries(tokens);
}

/** Tokens of sign-ins that were good once. */
async function endedSignIns({ db, identity, signUp, must }: World) {
  const signedOut = await signUp();
  await must("POST", "/auth/logout", signedOut.token, {});
  const disabled = await signUp();
  await identity.updateUser(disabled.id, { disabled: true });
  const deleted = await signUp();
  await identity.deleteUser(deleted.id);
  const changed = await signUp();
  await identity.updateUser(changed.id, { password: "another good one 2" });
  const suspended = await signUp();
  const deps = { db, announce: announceByBell, contact: "hello@berth.example" };
  await suspendUser(deps, suspended.id, { now: true, refund: false }, cli);
  return {
    "signed out": signedOut.token,
    disabled: disabled.token,
    deleted: deleted.token,
    "password changed": changed.token,
    suspended: suspended.token,
  };
}

/** Authorization headers of the tokens, and others that are no token at all. */
export function refusedHeaders({ victim }: World, tokens: Shown<string>): Shown<string | undefined> {
  return [
    ["none", undefined],
    ["empty", "Bearer "],
    ["basic", `Basic ${Buffer.from(`${victim.email}:good password 1`).toString("base64")}`],
    ["another scheme", `Token ${victim.token}`],
    ["two tokens", `Bearer ${victim.token} ${victim.token}`],
    ...tokens.map(([name, token]) => [name, `Bearer ${token}`] as const),
  ];
}

type Headers = Readonly<Record<string, string>>;

/** Headers that do not sign in to the operator's console (G143). */
export async function refusedOperators(world: World): Promise<Shown<Headers>> {
  const { db, victim, rented, shareCode } = world;
  const operators = await operatorsOf(world);
  const good = await operators.open();
  const [head = "", payload = "", signature = ""] = good.split(".");
  const claims: JWTPayload = JSON.parse(Buffer.from(payload, "base64url").toString());
  const signed = (aud: string, key: Uint8Array) =>
    new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).setAudience(aud).sign(key);
  const later = async (change: object) => {
    const token = await operators.open();
    const { jti = "" }: JWTPayload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    await db.updateTable("operator_sessions").set(change).where("id", "=", jti).execute();
    return token;
  };
  const cookies = {
    "the tenant's token": victim.token,
    "the environment's secret": rented.jupyter_token,
    "a guest's share link": shareCode,
    garbage: "garbage",
    "another key": await signed("operator", Buffer.alloc(32, 1)),
    "the installation's secret itself": await signed("operator", secret),
    "another audience": await signed("tenant", Buffer.from(hkdfSync("sha256", secret, "", "operator session v1", 32))),
    "no signature": `${head}.${payload}.`,
    "alg none": `${encode({ alg: "none" })}.${payload}.`,
    "another sign-in in it": `${head}.${encode({ ...claims, jti: newId() })}.${signature}`,
    "signed out": await later({ revoked_at: sql`now()` }),
    "idle for half an hour": await later({ seen_at: sql`now() - interval '31 minutes'` }),
    "twelve hours old": await later({ expires_at: sql`now() - interval '1 second'` }),
    removed: await operators.removed(),
    "reset, without password and second factor": await operators.reset(),
  };
  return [
    ["none", {}],
    ["the tenant's bearer token", { authorization: `Bearer ${victim.token}` }],
    ["an operator's sign-in as a bearer token", { authorization: `Bearer ${good}` }],
    ["an operator's sign-in in another cookie", { cookie: `operator-browser=${good}` }],
    ...Object.entries(cookies).map(
      ([name, token]) => [`${name} as the cookie`, { cookie: `operator-session=${token}` }] as const,
    ),
  ];
}

/** Operators with sign-ins to the console. */
async function operatorsOf({ db }: World) {
  const sessions = operatorSessions(db, secret);
  const add = async () => {
    const email = `${newId()}@berth.example`;
    const operator = { id: newId(), email, email_key: email };
    await db.insertInto("operators").values(operator).execute();
    return { email, token: await sessions.open(operator.id, "127.0.0.1") };
  };
  return {
    open: async () => (await add()).token,
    async removed() {
      const { email, token } = await add();
      await removeOperator(db, email, cli);
      return token;
    },
    async reset() {
      const { email, token } = await add();
      await resetOperator(db, email, cli);
      return token;
    },
  };
}

/** Authorization headers that are not the merchant's at the embedded provider. */
export function refusedMerchants({ own, victim }: World, tokens: Shown<string>): Shown<string | undefined> {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  const good = basic(`${own.keyId}:${own.keySecret}`);
  return [
    ["none", undefined],
    ["empty", ""],
    ["garbage", "Basic !"],
    ["key without secret", basic(`${own.keyId}:`)],
    ["secret without key", basic(`:${own.keySecret}`)],
    ["another secret", basic(`${own.keyId}:${own.keySecret.replace(/.$/, (last) => (last === "a" ? "b" : "a"))}`)],
    ["another key id", basic(`rzp_test_another:${own.keySecret}`)],
    ["the webhook's secret", basic(`${own.keyId}:${own.webhookSecret}`)],
    ["swapped", basic(`${own.keySecret}:${own.keyId}`)],
    ["one character more", `${good}=`],
    ["another scheme", good.replace("Basic", "Bearer")],
    ["the tenant's token", `Bearer ${victim.token}`],
    ...tokens.map(([name, token]) => [name, `Bearer ${token}`] as const),
  ];
}
