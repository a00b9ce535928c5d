import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { consoleUrl, testConsole } from "../operator/console/testing/test-console.ts";
import type { Route } from "../testing/list-routes.ts";
import {
  refusedHeaders,
  refusedMerchants,
  refusedOperators,
  refusedTokens,
  type Shown,
} from "./testing/access-callers.ts";
import { chosen, comparable, isWhole, pathOf, side, tally } from "./testing/access-cells.ts";
import { refusedCredentials } from "./testing/access-credentials.ts";
import { kindOf } from "./testing/other-routes.ts";
import { setupAccess, type World } from "./testing/setup-access.ts";

const limitMs = isWhole ? 1_800_000 : 240_000;

/** The routes of the console that need no sign-in. */
const anyonesInConsole = [
  "POST /operator/api/session",
  "POST /operator/api/link/open",
  "POST /operator/api/link/spend",
];
const isPublicInConsole = (method: string, url: string) =>
  url.startsWith("/operator/api/") ? anyonesInConsole.includes(`${method} ${url}`) : method === "GET";

test(
  "every call of the operator's console refuses a tenant's token in every place, and does nothing",
  async (context) => {
    const world = await setupAccess();
    const { app, routes } = await testConsole({ db: world.db });
    const calls = routes.filter(({ config }) => config?.auth === "operator");
    for (const { method, url, config } of routes)
      if (config?.auth !== "operator") expect(isPublicInConsole(method, url), `${method} ${url}`).toBe(true);
    const { host, origin } = new URL(consoleUrl);
    const callers = await refusedOperators(world);
    const { rented } = world;
    const before = await world.rows();
    let count = 0;
    for (const { method, url } of calls) {
      const tried = chosen(
        () => [rented.environment_id, newId(), "%00"],
        () => [rented.environment_id],
      );
      const body = method === "GET" ? {} : { payload: { reason: "mine", typed: world.victim.email } };
      for (const path of new Set(tried.map((id) => pathOf(url, id))))
        await side(callers, async ([name, given]) => {
          const headers = { host, origin, ...given };
          // The console counts the requests of a network.
          const remoteAddress = `192.0.2.${count++ % 250}`;
          const answer = await app.inject({ method, url: path, headers, remoteAddress, ...body });
          expect([answer.statusCode, answer.json().code], `${method} ${path} with: ${name}`).toEqual([
            401,
            "unauthenticated",
          ]);
        });
    }
    expect(await world.rows()).toEqual(before);
    tally(context, `${calls.length} calls of operators by ${callers.length} others`, count);
  },
  limitMs,
);

test("no page of another site and no other name of the host acts for a signed-in operator", async (context) => {
  const { app, routes, enrol } = await testConsole();
  const { cookies } = await enrol();
  const { host, origin } = new URL(consoleUrl);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const from: readonly (readonly [string, Record<string, string>, number])[] = [
    ["another site", { host, origin: "https://evil.example" }, 403],
    ["no site", { host, origin: "null" }, 403],
    ["a subdomain", { host, origin: origin.replace("//", "//lab.") }, 403],
    ["no origin", { host }, 403],
    ["another host", { host: "evil.example", origin: "https://evil.example" }, 421],
  ];
  let count = 0;
  for (const { method, url, config } of routes.filter(({ config }) => config?.endpoint))
    for (const [name, headers, status] of from) {
      if (method === "GET" && status === 403) continue;
      const path = pathOf(url, newId());
      const payload = method === "GET" ? {} : { payload: { reason: "mine" } };
      const answer = await app.inject({ method, url: path, headers: { ...headers, cookie }, ...payload });
      expect(answer.statusCode, `${method} ${path} (${config?.auth}) from ${name}`).toBe(status);
      count++;
    }
  tally(context, "calls of operators from elsewhere", count);
});

test(
  "calls that take no token of a tenant give nothing to whom they are not meant for",
  async (context) => {
    const world = await setupAccess();
    const tokens = await refusedTokens(world);
    const credentials = await refusedCredentials(world, tokens);
    const tries = {
      merchant: (route: Route) => refusesOthers(world, route, tokens),
      credential: (route: Route) => refusesDead(world, route, credentials),
      anyone: (route: Route) => answersAlike(world, route, tokens),
    };
    for (const [kind, tryAll] of Object.entries(tries)) {
      const calls = world.routes.filter((route) => kindOf(route) === kind);
      const before = await rowsOf(world);
      let count = 0;
      for (const route of calls) count += await tryAll(route);
      // Who asks for a passkey's sign-in gets a challenge, which is a row.
      if (kind !== "anyone") expect(await rowsOf(world)).toEqual(before);
      tally(context, `${calls.length} calls by others: ${kind}`, count);
    }
  },
  limitMs,
);

/** Without the counts of wrong codes. */
async function rowsOf({ rows }: World) {
  const { identity_pending_sign_ins: _, ...rest } = await rows();
  return rest;
}

/** The merchant's own calls, for every other caller. */
async function refusesOthers(world: World, { method, url }: Route, tokens: Shown<string>): Promise<number> {
  const { razorpay_order_id: order, razorpay_payment_id: payment } = world.rented.payment_data;
  const callers = refusedMerchants(world, tokens);
  const own = url.includes("payments") ? payment : order;
  const ids = chosen(
    () => [own, "order_AAAAAAAAAAAAAA", "%00"],
    () => [own],
  );
  const payload = method === "GET" ? {} : { payload: { amount: 100, currency: "USD" } };
  const paths = new Set(ids.map((id) => pathOf(url, id)));
  for (const path of paths)
    await side(callers, async ([name, authorization]) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await world.app.inject({ method, url: path, headers, ...payload });
      expect(answer.statusCode, `${method} ${path} by: ${name}: ${answer.body}`).toBe(401);
    });
  return paths.size * callers.length;
}

/** Calls of the identity dialect, for credentials that are dead, forged or another call's. */
async function refusesDead(
  world: World,
  { method, url }: Route,
  credentials: ReadonlyMap<string, Shown<unknown>>,
): Promise<number> {
  const bodies = credentials.get(`${method} ${url}`) ?? [];
  expect(bodies.length, url).toBeGreaterThan(0);
  for (const [name, body] of bodies) {
    const { statusCode, body: said } = await world.call(method, pathOf(url, ""), undefined, body);
    expect(statusCode, `${url} with: ${name}: ${said}`).toBe(400);
    expect(said, `${url} with: ${name}`).not.toMatch(/"\w*token":|"localId"|@example/i);
  }
  return bodies.length;
}

/** Public calls give no more to whoever shows a token. */
async function answersAlike(world: World, { method, url }: Route, tokens: Shown<string>): Promise<number> {
  const own = ["another user", `Bearer ${world.outsider.token}`] as const;
  const callers = chosen(
    () => [own, ...refusedHeaders(world, tokens).slice(1)],
    () => [own],
  );
  const send = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const payload = method === "GET" ? {} : { payload: {} };
    const answer = comparable(await world.app.inject({ method, url: pathOf(url, "nobody"), headers, ...payload }));
    return { ...answer, body: answer.body.replace(/"challenge":"[^"]+"/, "") };
  };
  const plain = await send();
  await side(callers, async ([name, authorization]) =>
    expect(await send(authorization), `${method} ${url} by: ${name}`).toEqual(plain),
  );
  return callers.length;
}
