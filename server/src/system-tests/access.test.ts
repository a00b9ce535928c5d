import { createSecretKey } from "node:crypto";
import type { AnyEndpoint } from "@berth/contract";
import * as contract from "@berth/contract";
import { generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { localDeps } from "../identity/local/local-deps.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import {
  appUrl,
  containerRequest,
  orderBody,
  secret,
  type TestApp,
  type TestUser,
  testApp,
} from "../testing/test-app.ts";

/** What takes no token of a user, or has no endpoint in the contract. Whatever else is mounted so needs a line here. */
const others: Readonly<Record<string, "anyone" | "bearer" | "merchant">> = {
  "POST /auth/signup": "anyone",
  "POST /auth/reset-password": "anyone",
  "GET /outbox": "anyone",
  "GET /config": "anyone",
  "GET /capacity": "anyone",
  "GET /status": "anyone",
  "GET /support/catalog": "anyone",
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

/** A body that would work for the owner, by path: a call without one could be refused for the wrong reason. */
const bodies: Readonly<Record<string, (world: World) => unknown>> = {
  "/auth/logout": () => ({}),
  "/auth/verify-email": () => ({}),
  "/docker/payments/create_order": ({ victim }) => orderBody(victim.id, { subdomain: "another-lab" }),
  "/docker/payments/clear/{order_id}": () => ({}),
  "/orders/{order_id}/refund-request": () => ({ reason: "other", text: "It did not start at all." }),
  "/docker/environment/create": ({ victim, rented }) => ({
    container_request: containerRequest(victim.id),
    payment_data: rented.payment_data,
  }),
  "/docker/{action}_container/{container_id}/{user_id}": () => ({}),
  "/environments/{id}/extend": () => ({ duration: 1, amount: 0.4, currency: "USD" }),
  "/environments/queue": () => ({ gpu_count: 1 }),
  "/environments/{id}/start": () => ({ without_settings: true }),
  "/environments/{id}/terminate": () => ({ confirm: "first-lab" }),
  "/environments/{id}/cancel": () => ({}),
  "/environments/{id}/idle-stop": () => ({ minutes: 30 }),
  "/environments/{id}/idle-stop/snooze": () => ({}),
  "/environments/{id}/archive": () => ({}),
  "/environments/{id}/delete_files": () => ({ confirm: "first-lab" }),
  "/environments/{id}/sign-in-code": () => ({}),
  "/environments/{id}/share": () => ({ term: "1h" }),
  "/environments/{id}/share/{share_id}": () => ({}),
  "/environments/{id}/rotate-secret": () => ({}),
  "/notifications/read": () => ({ ids: [] }),
  "/profile/{user_id}/update": () => ({ name: "Mallory", phone: "666" }),
  "/settings/{user_id}/profile": () => ({ name: "Mallory", phone: "666" }),
  "/profile/{user_id}/update_password": () => ({ current_password: "good password 1", new_password: "stolen now 1" }),
  "/settings/{user_id}/flags": () => ({ billingAlerts: false }),
  "/support/tickets": ({ victim }) => ({
    issueType: "other",
    description: "Not mine",
    userEmail: victim.email,
    userId: victim.id,
  }),
  "DELETE /profile/{user_id}": () => ({ password: "good password 1" }),
  "/settings/{user_id}/password": () => ({ currentPassword: "good password 1", newPassword: "stolen now 1" }),
};

type Whose = "own" | "foreign" | "absent";
type World = Awaited<ReturnType<typeof setup>>;
type Assignment = Readonly<Record<string, string>>;

/** A victim with a running environment and an open order, and a stranger who has an environment and is curious. */
async function setup() {
  const product = await testApp();
  const stop = product.deliver();
  const [victim, outsider] = [await product.signUp("Victoria Secret"), await product.signUp("Stranger")];
  const rented = await product.rent(victim);
  const outsiders = await product.rent(outsider, { subdomain: "strange-lab" });
  const open = await product.order(victim, { subdomain: "second-lab" });
  const receipts = async ({ id, token }: TestUser) =>
    (await product.must("GET", `/billing/${id}`, token)).invoices.map(({ number }: { number: string }) => number);
  await payBackPart(product, rented.payment_data.razorpay_payment_id);
  await payBackPart(product, outsiders.payment_data.razorpay_payment_id);
  const notes = async ({ id, token }: TestUser) =>
    (await product.must("GET", `/billing/${id}`, token)).invoices.flatMap(
      (invoice: { credit_notes: string[] }) => invoice.credit_notes,
    );
  const creditNotes = { own: await notes(outsider), foreign: await notes(victim), absent: ["CRN-00000000000"] };
  const number = { own: await receipts(outsider), foreign: await receipts(victim), absent: ["INV-00000000000"] };
  const runLimits = async ({ token }: TestUser, id: string) =>
    (await product.must("POST", `/environments/${id}/share`, token, { term: "1h" })).share.id as string;
  const shares = {
    own: [await runLimits(outsider, outsiders.environment_id)],
    foreign: [await runLimits(victim, rented.environment_id)],
    absent: [newId()],
  };
  await stop();
  // Under the provider's id and under ours: `GET /orders/{order_id}` takes both.
  const ours = async (id: string) => (await product.must("GET", `/orders/${id}`, victim.token)).order.id as string;
  const victims = [rented.payment_data.razorpay_order_id, open.id, await ours(open.id)];
  const order = outsiders.payment_data.razorpay_order_id;
  /** By path parameter. An environment may be called by its name too, where a call takes one. */
  const values: Readonly<Record<string, Readonly<Record<Whose, readonly string[]>>>> = {
    user_id: { own: [outsider.id], foreign: [victim.id], absent: [newId()] },
    id: {
      own: [outsiders.environment_id],
      foreign: [rented.environment_id, "first-lab"],
      absent: [newId(), "nobody-lab"],
    },
    container_id: { own: [outsiders.environment_id], foreign: [rented.environment_id], absent: [newId()] },
    share_id: shares,
    number,
    order_id: { own: [order], foreign: victims, absent: ["order_AAAAAAAAAAAAAA", "order_BBBBBBBBBBBBBB", newId()] },
    [`${contract.creditNote.path} number`]: creditNotes,
  };
  return { ...product, victim, outsider, rented, open, values };
}

/** By hand, in the provider's dashboard: the order has a credit note then. */
async function payBackPart({ payments }: TestApp, paymentId: string): Promise<void> {
  await payments.provider.refund({ paymentId, amountMinor: 1, key: `dashboard-${paymentId}`, notes: {} });
  await settlePayment(payments, await payments.provider.payment(paymentId));
}

/** What stands for a parameter of a path; the same word may mean something else elsewhere. */
const valuesOf = ({ values }: Pick<World, "values">, { path }: AnyEndpoint, name: string) =>
  values[`${path} ${name}`] ?? values[name];

/** The contract's endpoints that are mounted. */
function mounted({ routes }: TestApp): readonly AnyEndpoint[] {
  const known = new Set<unknown>(Object.values(contract));
  const endpoints = routes.flatMap(({ config }) => config?.endpoint ?? []);
  for (const endpoint of endpoints) expect(known, `${endpoint.path} in the contract`).toContain(endpoint);
  return endpoints;
}

const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));

/** Every way to say whose the ids of a path are; closed sets are gone through. Throws for a parameter that has no values here. */
function assignments(world: World, endpoint: AnyEndpoint, whose: readonly Whose[]): readonly Assignment[] {
  let all: readonly Assignment[] = [{}];
  for (const name of namesIn(endpoint.path)) {
    const closed = endpoint.values?.[name];
    const found = valuesOf(world, endpoint, name);
    if (!closed && !found) throw new Error(`no cell for {${name}} of ${endpoint.path}`);
    const choices = closed ?? whose.flatMap((each) => found?.[each] ?? []);
    all = all.flatMap((before) => choices.map((choice) => ({ ...before, [name]: choice })));
  }
  return all;
}

const fill = (path: string, values: Assignment) => path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");

function bodyOf(world: World, { method, path }: AnyEndpoint): unknown {
  if (method === "GET") return undefined;
  const body = bodies[`${method} ${path}`] ?? bodies[path];
  if (!body) throw new Error(`no body for ${method} ${path}`);
  return body(world);
}

/** Authorization headers that must not hold, made of what somebody could have in hand. */
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
    "signed out": signedOut.token,
    disabled: disabled.token,
    deleted: deleted.token,
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

/** What may differ between two answers that are the same. */
function seen({ statusCode, headers, body }: Awaited<ReturnType<TestApp["call"]>>) {
  const { date, "x-ratelimit-remaining": left, "x-ratelimit-reset": reset, ...rest } = headers;
  return { statusCode, headers: rest, body };
}

test("every bearer call refuses every token that does not hold, in one shape, and does nothing", async () => {
  const world = await setup();
  const refused = Object.entries(await refusedHeaders(world));
  const before = await world.rows();
  const events = { method: "GET", path: "/events" } as AnyEndpoint;
  const endpoints = [...mounted(world).filter(({ auth }) => auth === "bearer"), events];
  let cells = 0;
  for (const endpoint of endpoints) {
    const { method, path } = endpoint;
    const payload = bodyOf(world, endpoint);
    const named = { ...world.values, name: { own: ["free-lab"], foreign: ["first-lab"], absent: [] } };
    for (const values of assignments({ ...world, values: named }, endpoint, ["own", "foreign", "absent"]))
      for (const [name, authorization] of refused) {
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
        cells++;
      }
  }
  expect(await world.rows()).toEqual(before);
  console.log(`${cells} cells: ${endpoints.length} bearer calls, ${refused.length} tokens`);
}, 60_000);

test("what is another user's answers exactly like what does not exist, and stays as it is", async () => {
  const world = await setup();
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
      const answer = seen(await send(values));
      expect(answer, fill(endpoint.path, values)).toEqual(seen(await send(absent as Assignment)));
      expect(answer.statusCode, fill(endpoint.path, values)).toBe(404);
      cells++;
    }
  }
  expect(await world.rows()).toEqual(before);
  console.log(`${cells} cells of another user's ids`);
});

test("another user's order, notifications and account in a body: refused like absent ones, and untouched", async () => {
  const world = await setup();
  const { victim, outsider, rented, call, must } = world;
  const before = await world.rows();
  const create = (proof: object, user = outsider.id) =>
    call("POST", "/docker/environment/create", outsider.token, {
      container_request: containerRequest(user),
      payment_data: { ...rented.payment_data, ...proof },
    });
  const absent = seen(await create({ razorpay_order_id: "order_AAAAAAAAAAAAAA" }));
  expect(absent.statusCode).toBe(404);
  expect(seen(await create({}))).toEqual(absent);
  expect((await create({}, victim.id)).json().code).toBe("forbidden");
  const ids = (await must("GET", "/notifications", victim.token)).notifications.map(({ id }: { id: string }) => id);
  expect(ids.length).toBeGreaterThan(2);
  await must("POST", "/notifications/read", outsider.token, { ids });
  expect(await world.rows()).toEqual(before);
});

test("a name that is taken says only that (G90): neither whose it is nor what became of it", async () => {
  const { db, outsider, victim, must } = await setup();
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

test("no answer that a stranger can read names anything of another user", async () => {
  const world = await setup();
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

test("every route that is mounted is known here: as a bearer call of the contract, or with a line that says who may call it", async () => {
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
