import { operatorSignOut } from "@berth/contract/console/session";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { consoleUrl, testConsole } from "../operator/console/testing/test-console.ts";
import { seeded } from "../testing/random.ts";
import { containerRequest, orderBody, type TestUser, testApp } from "../testing/test-app.ts";
import { brokenHttp, exchange } from "./testing/broken-http.ts";
import { fuzzer, type Road, roadBeside, roadsOf, roadTo, type Sender } from "./testing/fuzz-requests.ts";
import { others } from "./testing/other-routes.ts";

const requests = 4000;
const ofConsole = 1000;
const workers = 5;

async function setup(seed: number) {
  const product = await testApp();
  product.deliver();
  const owner = await product.signUp();
  const rented = await product.rent(owner);
  const { number } = (await product.must("GET", `/billing/${owner.id}`, owner.token)).invoices[0];
  const beside = Object.keys(others).filter((line) => line !== "GET /events");
  const roads = [...roadsOf(await product.must("GET", "/openapi.json")), ...beside.map(roadBeside)];
  const random = seeded(seed);
  return { ...product, random, fuzz: fuzzer(random, roads), owner, rented, number };
}

type World = Awaited<ReturnType<typeof setup>>;

function senderOf({ owner, rented, number, own }: World, user: TestUser): Sender {
  const proof = rented.payment_data;
  const ids = [user.id, owner.id, rented.environment_id, "first-lab", ...Object.values(proof).slice(0, 2), number];
  const basic = `Basic ${Buffer.from(`${own.keyId}:${own.keySecret}`).toString("base64")}`;
  return {
    userId: user.id,
    ids,
    known: [
      ...[...ids, ...Object.values(proof), user.email, "good password 1", "free-lab", own.keyId, 0.4, 1, true],
      ...["5555555555554444", "123", "12", "34", user.refreshToken, user.token, "refresh_token", "USD"],
    ],
    headersFor: ({ path }) => ({
      authorization: path.startsWith("/embedded-gateway") ? basic : `Bearer ${user.token}`,
    }),
    goodBody: ({ path }: Road) =>
      path.endsWith("create_order") ? orderBody(user.id, { subdomain: "free-lab" }) : undefined,
  };
}

test(`${requests} requests of every shape: no reply is a 5xx, and the product still sells`, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  console.log(`seed ${seed}`);
  const world = await setup(seed);
  const { app, fuzz, signUp, call, errors } = world;
  const statuses = new Map<number, number>();
  let left = requests;

  async function worker(): Promise<void> {
    let user = await signUp();
    while (left-- > 0) {
      const { isSignedIn, ...request } = fuzz.request(senderOf(world, user));
      const answer = await app.inject(request);
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      const what = `seed ${seed}: ${request.method} ${request.url} ${JSON.stringify(request.headers)} ${request.payload?.toString().slice(0, 400)}`;
      expect(answer.statusCode, `${what}\n${answer.body}`).toBeLessThan(500);
      fuzz.learn(answer.body);
      // A sign-out, a new password or the end of the account came through.
      const isOver = isSignedIn && answer.statusCode === 401;
      if (isOver || request.url.startsWith("/auth/logout")) user = await signUp();
    }
  }

  await Promise.all(Array.from({ length: workers }, worker));
  console.log(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)));
  expect(errors).toEqual([]);
  const buyer = await signUp();
  const order = await call(
    "POST",
    "/docker/payments/create_order",
    buyer.token,
    orderBody(buyer.id, containerRequest(buyer.id, { subdomain: "last-lab" })),
  );
  expect([200, 409]).toContain(order.statusCode);
}, 600_000);

test(`${ofConsole} requests of every shape to the operator's console: no reply is a 5xx`, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { app, routes, enrol, errors } = await testConsole();
  const { cookies, email, password, must } = await enrol();
  const endpoints = routes.flatMap(({ config }) => config?.endpoint ?? []);
  // A sign-out would end the sign-in that all others need.
  const roads = endpoints.filter((endpoint) => endpoint !== operatorSignOut).map(roadTo);
  expect(roads.length).toBeGreaterThan(40);
  const random = seeded(seed);
  const fuzz = fuzzer(random, roads);
  const { host, origin } = new URL(consoleUrl);
  const sender: Sender = {
    userId: newId(),
    ids: [newId(), "first-lab", "local", email],
    known: [email, password, "first-lab", "Scans", "local", 1, 0.4, true, "USD", "2026-11-01", newId()],
    headersFor: () => ({ cookie: `operator-session=${cookies.get("operator-session")}` }),
    goodBody: () => undefined,
  };
  for (let n = 0; n < ofConsole; n++) {
    const { isSignedIn: _, ...request } = fuzz.request(sender);
    // The console counts the requests of a network.
    const remoteAddress = `198.51.100.${n % 250}`;
    const answer = await app.inject({ ...request, remoteAddress, headers: { ...request.headers, host, origin } });
    const what = `seed ${seed}: ${request.method} ${request.url} ${request.payload?.toString().slice(0, 400)}`;
    expect(answer.statusCode, `${what}\n${answer.body}`).toBeLessThan(500);
    fuzz.learn(answer.body);
  }
  await must("GET", "session");
  expect(errors).toEqual([]);
}, 600_000);

test("malformed HTTP is refused or cut off, and the next request is answered", async () => {
  const { url } = await testApp();
  const port = Number(new URL(url).port);
  for (const bytes of brokenHttp) {
    const answer = await exchange(port, bytes);
    const what = JSON.stringify(bytes.slice(0, 120));
    expect(answer, what).not.toMatch(/^HTTP\/1\.1 5/);
    expect(answer, what).not.toContain("root:");
    expect((await fetch(`${url}/healthz`)).status, what).toBe(200);
  }
});
