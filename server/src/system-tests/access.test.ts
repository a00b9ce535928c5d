import { createSecretKey } from "node:crypto";
import type { AnyEndpoint } from "@berth/contract";
import { generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { localDeps } from "../identity/local/local-deps.ts";
import { announceByBell } from "../notifications/notifications.ts";
import { operatorSessions } from "../operator/console/operator-sessions.ts";
import { consoleUrl, testConsole } from "../operator/console/testing/test-console.ts";
import { suspendUser } from "../operator/people/suspend-user.ts";
import { appUrl, containerRequest, secret, type TestApp, type TestUser, testApp } from "../testing/test-app.ts";
import {
  type Assignment,
  assignments,
  bodyOf,
  fill,
  mounted,
  namesIn,
  setupAccess,
  valuesOf,
  type Whose,
  type World,
} from "./testing/setup-access.ts";

/** Routes that take no token of a user or have no endpoint in the contract. Another one of them needs a line here. */
const others: Readonly<Record<string, "anyone" | "bearer" | "merchant">> = {
  "POST /auth/signup": "anyone",
  "POST /auth/reset-password": "anyone",
  "GET /auth/providers/:key/start": "anyone",
  "GET /auth/providers/:key/callback": "anyone",
  "POST /auth/providers/finish": "anyone",
  "POST /auth/passkeys/sign-in/options": "anyone",
  "POST /auth/passkeys/sign-in": "anyone",
  "GET /outbox": "anyone",
  "GET /config": "anyone",
  "GET /capacity": "anyone",
  "GET /status": "anyone",
  "GET /support/catalog": "anyone",
  "POST /support/searches": "anyone",
  "POST /webhooks/razorpay": "anyone",
  "GET /": "anyone",
  "GET /favicon.svg": "anyone",
  "GET /robots.txt": "anyone",
  "GET /sitemap.xml": "anyone",
  "GET /healthz": "anyone",
  "GET /readyz": "anyone",
  "GET /openapi.json": "anyone",
  "GET /events": "bearer",
  "GET /environments/:id/logs": "bearer",
  "GET /archives/:code": "anyone",
  "POST /identity/v1/accounts::signInWithPassword": "anyone",
  "POST /identity/v1/accounts::signInWithCustomToken": "anyone",
  "POST /identity/v1/accounts::resetPassword": "anyone",
  "POST /identity/v1/accounts::update": "anyone",
  "POST /identity/v1/accounts::lookup": "anyone",
  "POST /identity/v2/accounts/mfaSignIn::finalize": "anyone",
  "POST /identity/v1/token": "anyone",
  "GET /identity/.well-known/jwks.json": "anyone",
  "GET /embedded-gateway/v1/checkout": "anyone",
  "GET /embedded-gateway/v1/checkout.js": "anyone",
  "GET /embedded-gateway/v1/checkout-page.js": "anyone",
  "GET /embedded-gateway/v1/outcomes-page.js": "anyone",
  "GET /embedded-gateway/v1/checkout.css": "anyone",
  "GET /embedded-gateway/v1/test": "anyone",
  "PUT /embedded-gateway/v1/test/orders/:id/outcome": "merchant",
  "GET /embedded-gateway/v1/geist.woff2": "anyone",
  "POST /embedded-gateway/v1/payments/create/checkout": "anyone",
  "GET /embedded-gateway/v1/payments/:id/status": "anyone",
  "POST /embedded-gateway/v1/orders": "merchant",
  "GET /embedded-gateway/v1/orders": "merchant",
  "GET /embedded-gateway/v1/orders/:id": "merchant",
  "GET /embedded-gateway/v1/orders/:id/payments": "merchant",
  "GET /embedded-gateway/v1/payments": "merchant",
  "GET /embedded-gateway/v1/payments/:id": "merchant",
  "POST /embedded-gateway/v1/payments/:id/capture": "merchant",
  "POST /embedded-gateway/v1/payments/:id/refund": "merchant",
  "GET /embedded-gateway/v1/payments/:id/refunds": "merchant",
  "GET /embedded-gateway/v1/refunds/:id": "merchant",
  "GET /embedded-gateway/v1/disputes": "merchant",
  "GET /embedded-gateway/v1/disputes/:id": "merchant",
  "PUT /embedded-gateway/v1/test/faults": "merchant",
  "POST /embedded-gateway/v1/test/disputes": "merchant",
  "POST /embedded-gateway/v1/test/disputes/:id": "merchant",
  "POST /embedded-gateway/v1/test/payments": "merchant",
};

/** The token of a sign-in to the operator's console (G143). */
async function operatorToken(db: World["db"]): Promise<string> {
  const operator = { id: newId(), email: "ada@berth.example", email_key: "ada@berth.example" };
  await db.insertInto("operators").values(operator).execute();
  return await operatorSessions(db, secret).open(operator.id, "127.0.0.1");
}

/** Invalid authorization headers, made of tokens that an attacker could have. */
async function refusedHeaders({ db, identity, victim, outsider, rented, signUp, must, call }: World) {
  const { keys } = localDeps({ db, secret, appUrl, limits: { signInsPerMinute: 1 } });
  const { key, kid } = await keys.current();
  const [head = "", payload = "", signature = ""] = victim.token.split(".");
  const claims: JWTPayload = JSON.parse(Buffer.from(payload, "base64url").toString());
  const header = { alg: "RS256", kid, typ: "JWT" };
  const sign = (change: JWTPayload, own = header) =>
    new SignJWT({ ...claims, ...change }).setProtectedHeader(own).sign(key);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const [published] = (await call("GET", "/identity/.well-known/jwks.json")).json().keys;
  const publicKey = createSecretKey(Buffer.from(published.n, "base64url"));
  const signedOut = await signUp();
  await must("POST", "/auth/logout", signedOut.token, {});
  const disabled = await signUp();
  await identity.updateUser(disabled.id, { disabled: true });
  const deleted = await signUp();
  await identity.deleteUser(deleted.id);
  const suspended = await signUp();
  const author = { actor: "cli:test", reason: "Scans" };
  const deps = { db, announce: announceByBell, contact: "hello@berth.example" };
  await suspendUser(deps, suspended.id, { now: true, refund: false }, author);
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
    "an operator's sign-in": await operatorToken(db),
    "signed out": signedOut.token,
    disabled: disabled.token,
    deleted: deleted.token,
    suspended: suspended.token,
  };
  return {
    none: undefined,
    empty: "Bearer ",
    basic: `Basic ${Buffer.from(`${victim.email}:good password 1`).toString("base64")}`,
    "another scheme": `Token ${victim.token}`,
    "two tokens": `Bearer ${victim.token} ${victim.token}`,
    ...Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, `Bearer ${token}`])),
  };
}

/** A reply without the headers that may differ between equal replies. */
function comparable({ statusCode, headers, body }: Awaited<ReturnType<TestApp["call"]>>) {
  const own = ["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"];
  const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
  return { statusCode, headers: rest, body };
}

test("every bearer call refuses every invalid token, in one shape, and does nothing", async () => {
  const world = await setupAccess();
  const refused = Object.entries(await refusedHeaders(world));
  const naming = refused.filter(([name]) => ["none", "another user in it", "the session of another"].includes(name));
  expect(naming).toHaveLength(3);
  const before = await world.rows();
  const events = { method: "GET", path: "/events" } as AnyEndpoint;
  const endpoints = [...mounted(world).filter(({ auth }) => auth === "bearer"), events];
  let count = 0;
  for (const endpoint of endpoints) {
    const { method, path } = endpoint;
    const payload = bodyOf(world, endpoint);
    const named = { ...world.values, name: { own: ["free-lab"], foreign: ["first-lab"], absent: [] } };
    const ids = (whose: readonly Whose[]) => assignments({ ...world, values: named }, endpoint, whose);
    const cells = [
      ...ids(["own"]).flatMap((values) => refused.map((header) => ({ values, header }))),
      // With the owners of ids come only the tokens that name somebody.
      ...ids(["foreign", "absent"]).flatMap((values) => naming.map((header) => ({ values, header }))),
    ];
    for (const { values, header } of cells) {
      const [name, authorization] = header;
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await world.app.inject({ method, url: fill(path, values), headers, payload: payload as object });
      const where = `${method} ${fill(path, values)} with token: ${name}`;
      expect(answer.statusCode, where).toBe(401);
      expect(answer.json(), where).toEqual({
        status: "error",
        code: "unauthenticated",
        message: "Sign in first",
        detail: "Sign in first",
      });
      count++;
    }
  }
  expect(await world.rows()).toEqual(before);
  console.log(`${count} cells: ${endpoints.length} bearer calls, ${refused.length} tokens`);
}, 60_000);

test("every call of the operator's console refuses a tenant's token in every place, and does nothing", async () => {
  const world = await setupAccess();
  const { app, routes } = await testConsole({ db: world.db });
  const calls = routes.filter(({ config }) => config?.auth === "operator");
  const { host, origin } = new URL(consoleUrl);
  const { token } = world.victim;
  const places: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    nowhere: {},
    "a bearer header": { authorization: `Bearer ${token}` },
    "the console's cookie": { cookie: `operator-session=${token}` },
    "the environment's secret": { cookie: `operator-session=${world.rented.jupyter_token}` },
  };
  const before = await world.rows();
  for (const { method, url } of calls)
    for (const id of [world.victim.id, world.rented.environment_id, world.open.id])
      for (const [place, given] of Object.entries(places)) {
        const path = url.replace(/:\w+\(\^\(\?:(\w+)[^)]*\)\$\)/g, "$1").replace(/:\w+/g, id);
        const body = method === "GET" ? {} : { payload: { reason: "mine", typed: world.victim.email } };
        const answer = await app.inject({ method, url: path, headers: { host, origin, ...given }, ...body });
        expect([answer.statusCode, answer.json().code], `${method} ${path} with a token in ${place}`).toEqual([
          401,
          "unauthenticated",
        ]);
      }
  expect(await world.rows()).toEqual(before);
  console.log(`${calls.length} calls of the console, ${Object.keys(places).length} places`);
});

test("another user's objects get the same reply as absent ones, and stay unchanged", async () => {
  const world = await setupAccess();
  const before = await world.rows();
  let cells = 0;
  for (const endpoint of mounted(world)) {
    const names = namesIn(endpoint.path).filter((name) => !endpoint.values?.[name] && name !== "name");
    if (names.length === 0) continue;
    const payload = bodyOf(world, endpoint);
    const send = (values: Assignment) =>
      world.call(endpoint.method, fill(endpoint.path, values), world.outsider.token, payload);
    const of = (name: string) => valuesOf(world, endpoint, name);
    const isForeign = (name: string, value = "") => of(name)?.foreign.includes(value) ?? false;
    const asAbsent = (name: string, value = "") =>
      isForeign(name, value) ? of(name)?.absent[of(name)?.foreign.indexOf(value) ?? 0] : value;
    for (const values of assignments(world, endpoint, ["own", "foreign"])) {
      if (!names.some((name) => isForeign(name, values[name]))) continue;
      const absent = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, asAbsent(name, value)]));
      const answer = comparable(await send(values));
      expect(answer, fill(endpoint.path, values)).toEqual(comparable(await send(absent as Assignment)));
      expect(answer.statusCode, fill(endpoint.path, values)).toBe(404);
      cells++;
    }
  }
  expect(await world.rows()).toEqual(before);
  console.log(`${cells} cells of another user's ids`);
});

test("another user's order, notifications and account in a body are refused like absent ones, and stay unchanged", async () => {
  const world = await setupAccess();
  const { victim, outsider, rented, call, must } = world;
  const before = await world.rows();
  const create = (proof: object, user = outsider.id) =>
    call("POST", "/docker/environment/create", outsider.token, {
      container_request: containerRequest(user),
      payment_data: { ...rented.payment_data, ...proof },
    });
  const absent = comparable(await create({ razorpay_order_id: "order_AAAAAAAAAAAAAA" }));
  expect(absent.statusCode).toBe(404);
  expect(comparable(await create({}))).toEqual(absent);
  expect((await create({}, victim.id)).json().code).toBe("forbidden");
  const ids = (await must("GET", "/notifications", victim.token)).notifications.map(({ id }: { id: string }) => id);
  expect(ids.length).toBeGreaterThan(2);
  await must("POST", "/notifications/read", outsider.token, { ids });
  expect(await world.rows()).toEqual(before);
});

test("a taken name says only that (G90): neither its owner nor its status", async () => {
  const { db, outsider, victim, must } = await setupAccess();
  const ask = async (name: string, { token }: TestUser) => must("GET", `/subdomains/${name}`, token);
  const taken = { status: "success", available: false, message: "This name is in use" };
  expect(await ask("first-lab", outsider)).toEqual({ ...taken, suggestion: "first-lab-2" });
  expect(await ask("second-lab", outsider), "held by an unpaid order").toEqual({
    ...taken,
    suggestion: "second-lab-2",
  });
  const kept = { order_id: null, retained_until: new Date(Date.now() + 86_400_000) };
  await db.updateTable("subdomain_claims").set(kept).where("name", "=", "first-lab").execute();
  expect(await ask("first-lab", outsider), "its files are kept").toEqual({ ...taken, suggestion: "first-lab-2" });
  expect((await ask("first-lab", victim)).available).toBe(true);
});

test("no reply that another user can read names anything of a user", async () => {
  const world = await setupAccess();
  const { victim, rented, open, outsider, call } = world;
  const { razorpay_payment_id, razorpay_order_id } = rented.payment_data;
  const paths = mounted(world).filter(({ method }) => method === "GET");
  const session = JSON.parse(Buffer.from(victim.token.split(".")[1] ?? "", "base64url").toString()).sid;
  const secrets = {
    ...{ id: victim.id, email: victim.email, name: "Victoria", session, token: rented.jupyter_token },
    ...{ environment: rented.environment_id, first: "first-lab", second: "second-lab" },
    ...{ open: open.id, order: razorpay_order_id, payment: razorpay_payment_id },
  };
  const own = { ...world.values, name: { own: ["strange-lab", "free-lab"], foreign: [], absent: [] } };
  let answers = 0;
  for (const endpoint of paths)
    for (const values of assignments({ ...world, values: own }, endpoint, ["own"])) {
      const { statusCode, body } = await call("GET", fill(endpoint.path, values), outsider.token);
      expect(statusCode, endpoint.path).toBe(200);
      for (const [what, value] of Object.entries(secrets))
        expect(body, `${what} in ${endpoint.path}`).not.toContain(value);
      answers++;
    }
  for (const [what, value] of Object.entries(secrets))
    expect((await call("GET", "/openapi.json")).body, what).not.toContain(value);
  expect(answers).toBeGreaterThan(6);
  const owners = (await call("GET", `/profile/${victim.id}`, victim.token)).body;
  for (const value of [victim.email, "Victoria", rented.environment_id, "first-lab"]) expect(owners).toContain(value);
});

test("every mounted route is known here: as a bearer call of the contract, or with a line that says who may call it", async () => {
  const product = await testApp();
  const { routes, call } = product;
  mounted(product);
  for (const { method, url, config } of routes) {
    const line = `${method} ${url}`;
    if (config?.endpoint?.auth === "bearer") continue;
    expect(Object.keys(others), line).toContain(line);
    const callable = url.replace("::", ":").replace(":id", "order_AAAAAAAAAAAAAA");
    const { statusCode } = await call(method, callable, undefined, method === "POST" ? {} : undefined);
    if (others[line] === "anyone") expect(statusCode, line).not.toBe(401);
    else expect(statusCode, line).toBe(401);
  }
});
