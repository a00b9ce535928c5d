import { createConnection } from "node:net";
import type { AnyEndpoint } from "@berth/contract";
import { expect, test } from "vitest";
import { toJSONSchema } from "zod/mini";
import { seeded } from "../testing/random.ts";
import { containerRequest, orderBody, type TestApp, type TestUser, testApp } from "../testing/test-app.ts";
import { broken, jsonOf, type Schema, segments, types } from "./testing/random-json.ts";

const requests = 2000;
const workers = 5;

/** A mounted route: its method, its path with parameters, and the schema of its body. */
interface Road {
  readonly method: AnyEndpoint["method"];
  readonly path: string;
  readonly schema: Schema;
  readonly values: AnyEndpoint["values"];
}

const dialect: Schema = {
  type: "object",
  properties: Object.fromEntries(
    [
      ...["email", "password", "token", "oobCode", "newPassword", "idToken", "grant_type", "refresh_token"],
      ...["key_id", "order_id", "method", "amount", "currency", "receipt", "notes", "speed", "capture"],
    ].map((name) => [name, {}]),
  ),
};
const cardSchema: Schema = {
  type: "object",
  properties: {
    ...{ key_id: {}, order_id: {}, method: { const: "card" } },
    card: { type: "object", properties: { number: {}, cvv: {}, expiry_month: {}, expiry_year: {} } },
  },
};

function roadsOf({ routes }: TestApp): readonly Road[] {
  return routes
    .filter(({ url }) => url !== "/events")
    .map(({ method, url, config }) => {
      const endpoint = config?.endpoint;
      const path =
        endpoint?.path ??
        url
          .replace("::", "\\")
          .replace(/:(\w+)/g, "{$1}")
          .replace("\\", ":");
      const schema = endpoint ? (toJSONSchema(endpoint.body, { io: "input" }) as Schema) : dialect;
      return {
        method,
        path,
        values: endpoint?.values,
        schema: url.endsWith("/checkout") ? cardSchema : schema,
      };
    });
}

async function setup(seed: number) {
  const product = await testApp();
  product.deliver();
  const owner = await product.signUp();
  const rented = await product.rent(owner);
  const basic = `Basic ${Buffer.from(`${product.own.keyId}:${product.own.keySecret}`).toString("base64")}`;
  const { number } = (await product.must("GET", `/billing/${owner.id}`, owner.token)).invoices[0];
  return { ...product, random: seeded(seed), roads: roadsOf(product), owner, rented, number, basic };
}

type World = Awaited<ReturnType<typeof setup>>;

function requestOf({ random, roads, owner, rented, number, basic, own }: World, user: TestUser) {
  const road = random.of(roads);
  const proof = rented.payment_data;
  const known = [
    ...[
      user.id,
      owner.id,
      user.email,
      "good password 1",
      "free-lab",
      "first-lab",
      rented.environment_id,
      own.keyId,
      0.4,
      1,
    ],
    ...[
      ...Object.values(proof),
      "5555555555554444",
      "123",
      "12",
      "34",
      user.refreshToken,
      user.token,
      "refresh_token",
      "USD",
    ],
  ];
  const ids = [
    user.id,
    owner.id,
    rented.environment_id,
    "first-lab",
    proof.razorpay_order_id,
    proof.razorpay_payment_id,
    number,
  ];
  const url = road.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (random.chance(0.35)) return random.of(segments);
    return random.of(name === "user_id" ? [user.id] : (road.values?.[name] ?? ids));
  });
  const query = random.chance(0.3)
    ? `?${random.of(["from", "count", "skip", "receipt", "order_id", "a[b]"])}=${random.of(segments)}`
    : "";
  const merchant = road.path.startsWith("/embedded-gateway");
  const good = merchant ? basic : `Bearer ${user.token}`;
  const authorization = random.chance(0.85)
    ? good
    : random.of(["Bearer", "Bearer x", "Basic !", "é", "Bearer ".repeat(500)]);
  const hasBody = road.method !== "GET" || random.chance(0.1);
  const whole = road.path.endsWith("create_order") && random.chance(0.3);
  const payload = whole
    ? JSON.stringify(orderBody(user.id, { subdomain: "free-lab" }))
    : jsonOf(random, road.schema, known);
  const headers: Record<string, string> = { authorization };
  if (hasBody) headers["content-type"] = random.chance(0.92) ? "application/json" : random.of(types);
  if (random.chance(0.1))
    headers["range"] = random.of(["bytes=9-1", "bytes=99999-", "bytes=-1", "x", "bytes=0-0,1-1,5-9"]);
  if (random.chance(0.1)) headers["accept"] = random.of(["text/html", "*/*;q=x", "text/html,application/json"]);
  if (random.chance(0.1)) headers["if-match"] = random.of(['"x"', "*", "\u00ff"]);
  if (random.chance(0.1)) headers["x-refund-idempotency"] = random.of(["é", "x".repeat(300), "0123456789"]);
  return {
    method: road.method,
    url: `${url}${query}`,
    headers,
    ...(hasBody && { payload: random.chance(0.05) ? random.of(broken) : payload }),
  };
}

test(`${requests} requests of every shape: no reply is a 5xx, and the product still sells`, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  console.log(`seed ${seed}`);
  const world = await setup(seed);
  const { app, signUp, call, errors } = world;
  const statuses = new Map<number, number>();
  let left = requests;

  async function worker(): Promise<void> {
    let user = await signUp();
    while (left-- > 0) {
      const request = requestOf(world, user);
      const answer = await app.inject(request);
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      const what = `seed ${seed}: ${request.method} ${request.url} ${JSON.stringify(request.headers)} ${request.payload?.slice(0, 400)}`;
      expect(answer.statusCode, `${what}\n${answer.body}`).toBeLessThan(500);
      if (request.url.startsWith("/auth/logout") && answer.statusCode === 200) user = await signUp();
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
}, 60_000);

test("malformed HTTP is refused or cut off, and the next request is answered", async () => {
  const { url } = await testApp();
  const port = Number(new URL(url).port);
  const head = "POST /auth/signup HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
  const hostile = [
    "\x00\x01\x02\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "GET /\x00 HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
    `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(100_000)}\r\n\r\n`,
    `GET /${"y".repeat(100_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    `GET / HTTP/1.1\r\nhost: localhost\r\n${"x: y\r\n".repeat(5000)}\r\n`,
    `${head}content-length: -1\r\n\r\n{}`,
    `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
    `${head}content-length: 99999999999999999999\r\n\r\n{}`,
    `${head}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}`,
    `${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    `${head}transfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\n`,
    `${head}transfer-encoding: gzip\r\n\r\n`,
    `${head}content-length: 4\r\n\r\n\xff\xfe\xfd\xfc`,
    `${head}content-length: 70000\r\nexpect: 100-continue\r\n\r\n${"x".repeat(70_000)}`,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    "GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    "TRACE / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    "GET /../../../../etc/passwd HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    "GET /assets/%2e%2e/%2e%2e/package.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  ];
  for (const bytes of hostile) {
    const answer = await exchange(port, bytes);
    const what = JSON.stringify(bytes.slice(0, 120));
    expect(answer, what).not.toMatch(/^HTTP\/1\.1 5/);
    expect(answer, what).not.toContain("root:");
    expect((await fetch(`${url}/healthz`)).status, what).toBe(200);
  }
});

/** The bytes that came back until the connection ended. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.end(Buffer.from(bytes, "latin1"));
  let text = "";
  try {
    for await (const chunk of socket) text += chunk;
  } catch {
    // A cut connection is allowed.
  }
  return text;
}
