import type { AnyEndpoint } from "@berth/contract";
import * as contract from "@berth/contract";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { containerRequest, type TestUser, testApp } from "../testing/test-app.ts";
import { refusedHeaders, refusedTokens } from "./testing/access-callers.ts";
import { chosen, comparable, isWhole, pathOf, side, tally } from "./testing/access-cells.ts";
import { kindOf } from "./testing/other-routes.ts";
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
} from "./testing/setup-access.ts";

const each = ["own", "foreign", "absent"] as const;
/** Of environments, for the calls that take one. */
const names = { own: ["free-lab"], foreign: ["first-lab"], absent: ["nobody-lab"] };
const limitMs = isWhole ? 1_800_000 : 240_000;

/** What a sign-in without a factor may do where one is required (G402, G433). */
const openWithoutFactor: ReadonlySet<AnyEndpoint> = new Set([
  ...[contract.secondFactor, contract.beginSecondFactor, contract.confirmSecondFactor, contract.passkeys],
  ...[contract.beginPasskey, contract.addPasskey],
  ...[contract.settings, contract.linkedAccounts, contract.logout, contract.openTicket],
  ...[contract.exportAccount, contract.deleteAccount],
]);

test(
  "every bearer call refuses every invalid token, in one shape, and does nothing",
  async (context) => {
    const world = await setupAccess();
    const refused = refusedHeaders(world, await refusedTokens(world));
    const naming = refused.filter(([name]) => ["none", "another user in it", "the session of another"].includes(name));
    const endpoints = mounted(world).filter(({ auth }) => auth === "bearer");
    const before = await world.rows();
    let count = 0;
    const refuse = async (
      method: AnyEndpoint["method"],
      url: string,
      [name, authorization]: (typeof refused)[number],
      payload?: unknown,
    ) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await world.app.inject({ method, url, headers, payload: payload as object });
      const where = `${method} ${url} with token: ${name}`;
      expect(answer.statusCode, where).toBe(401);
      expect(answer.json(), where).toEqual({
        status: "error",
        code: "unauthenticated",
        message: "Sign in first",
        detail: "Sign in first",
      });
      count++;
    };
    for (const endpoint of endpoints) {
      const { method, path } = endpoint;
      const payload = bodyOf(world, endpoint);
      const named = { ...world, values: { ...world.values, name: names } };
      const cellsOf = (whose: readonly Whose[], headers: typeof refused) =>
        assignments(named, endpoint, whose).flatMap((values) => headers.map((header) => ({ values, header })));
      const cells = chosen(
        () => [
          ...each.flatMap((whose) => cellsOf([whose], refused)),
          ...cellsOf(["own", "foreign", "absent"], naming),
          ...cellsOf(["malformed"], naming),
        ],
        // With the owners of ids come only the tokens that name somebody.
        () => [...cellsOf(["own"], refused), ...cellsOf(["foreign", "absent"], naming)],
      );
      expect(cells.length, path).toBeGreaterThanOrEqual(refused.length);
      await side(cells, ({ values, header }) => refuse(method, fill(path, values), header, payload));
    }
    const streams = world.routes.filter((route) => kindOf(route) === "bearer" && !route.config?.endpoint);
    expect(streams.length).toBeGreaterThan(1);
    for (const { method, url } of streams)
      for (const id of [world.rented.environment_id, newId()])
        await side(refused, (header) => refuse(method, pathOf(url, id), header));
    expect(await world.rows()).toEqual(before);
    tally(context, `${endpoints.length} calls of tenants with ${refused.length} invalid tokens`, count);
  },
  limitMs,
);

test(
  "where two-factor sign-in is required, an account without it may only set it up, ask for help and leave",
  async (context) => {
    const world = await setupAccess();
    const required = await testApp({ SECOND_FACTOR: "required" });
    const { id, token } = await required.signUp();
    const values = { ...world.values, name: names, user_id: { ...world.values["user_id"], own: [id] } };
    const endpoints = mounted(world).filter(
      (endpoint) => endpoint.auth === "bearer" && !openWithoutFactor.has(endpoint),
    );
    const before = await required.rows();
    let count = 0;
    for (const endpoint of endpoints) {
      const of = (whose: readonly Whose[]) => assignments({ ...world, values }, endpoint, whose);
      const cells = chosen(
        () => of(["own", "foreign", "absent"]),
        () => of(["own"]).slice(0, 1),
      );
      for (const each of cells) {
        const url = fill(endpoint.path, each);
        const answer = await required.call(endpoint.method, url, token, bodyOf(world, endpoint));
        expect([answer.statusCode, answer.json().code], `${endpoint.method} ${url}`).toEqual([
          403,
          "second_factor_required",
        ]);
        count++;
      }
    }
    expect(await required.rows()).toEqual(before);
    tally(context, `${endpoints.length} calls of tenants without the second factor`, count);
  },
  limitMs,
);

test(
  "another user's objects get the same reply as absent ones, and stay unchanged",
  async (context) => {
    const world = await setupAccess();
    const before = await world.rows();
    let cells = 0;
    let broken = 0;
    for (const endpoint of mounted(world)) {
      const names = namesIn(endpoint.path).filter((name) => !endpoint.values?.[name] && name !== "name");
      if (names.length === 0) continue;
      const payload = bodyOf(world, endpoint);
      const send = (values: Assignment) =>
        world.call(endpoint.method, fill(endpoint.path, values), world.outsider.token, payload);
      const of = (name: string) => valuesOf(world, endpoint, name);
      const isForeign = (name: string, value = "") => of(name)?.foreign?.includes(value) ?? false;
      const asAbsent = (name: string, value = "") =>
        isForeign(name, value) ? of(name)?.absent?.[of(name)?.foreign?.indexOf(value) ?? 0] : value;
      for (const values of assignments(world, endpoint, ["own", "foreign"])) {
        if (!names.some((name) => isForeign(name, values[name]))) continue;
        const absent = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, asAbsent(name, value)]));
        const answer = comparable(await send(values));
        expect(answer, fill(endpoint.path, values)).toEqual(comparable(await send(absent as Assignment)));
        expect(answer.statusCode, fill(endpoint.path, values)).toBe(404);
        cells++;
      }
      const malformed = assignments(world, endpoint, ["malformed"]);
      for (const values of chosen(
        () => malformed,
        () => malformed.slice(0, 1),
      )) {
        expect((await send(values)).statusCode, fill(endpoint.path, values)).toBe(404);
        broken++;
      }
    }
    expect(await world.rows()).toEqual(before);
    tally(context, "calls of another user with foreign ids", cells);
    tally(context, "calls of another user with malformed ids", broken);
  },
  limitMs,
);

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

test(
  "no reply that another user can read names anything of a user",
  async () => {
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
  },
  limitMs,
);

test("every mounted route is known here: as a bearer call of the contract, or with a line that says who may call it", async () => {
  const product = await testApp();
  const { routes, call } = product;
  mounted(product);
  for (const route of routes) {
    const { method, url } = route;
    const kind = kindOf(route);
    expect(kind, `${method} ${url}`).not.toBe("unknown");
    if (kind === "bearer") continue;
    const path = pathOf(url, "order_AAAAAAAAAAAAAA");
    const { statusCode } = await call(method, path, undefined, method === "POST" ? {} : undefined);
    if (kind === "merchant") expect(statusCode, url).toBe(401);
    else expect(statusCode, url).not.toBe(401);
  }
});
