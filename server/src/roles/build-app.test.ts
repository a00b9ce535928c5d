import { createConnection } from "node:net";
import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";

test("an invalid body is a 4xx ErrorReply, never a 5xx", async () => {
  const { app } = await testApp();
  const json = { "content-type": "application/json" };
  const post = (url: string, payload: string, headers: Record<string, string> = json) =>
    app.inject({ method: "POST", url, payload, headers });
  const email = `${"x".repeat(300)}@example.com`;
  const cases: [string, number, string][] = [
    ["{", 400, "invalid_request"],
    ["", 400, "invalid_request"],
    ["[]", 400, "invalid_request"],
    ['"text"', 400, "invalid_request"],
    ["null", 400, "invalid_request"],
    ['{"__proto__":{"x":1},"email":"a@b.co","password":"longenough"}', 400, "invalid_request"],
    ['{"email":"a@b.co","password":"long\\u0000enough"}', 400, "invalid_request"],
    ['{"email":1,"password":[]}', 400, "invalid_request"],
    [JSON.stringify({ email, password: "longenough" }), 400, "invalid_request"],
    [`{"email":"a@b.co","password":"${"x".repeat(10_000_000)}"}`, 413, "too_large"],
  ];
  for (const [body, status, code] of cases) {
    const answer = await post("/auth/signup", body);
    expect([answer.statusCode, answer.json().code], body.slice(0, 80)).toEqual([status, code]);
    const { message, detail } = answer.json();
    expect(message).toMatch(/\w+ \w+/);
    expect(detail).toBe(message);
  }
  const form = await post("/auth/signup", "a=b", { "content-type": "application/x-www-form-urlencoded" });
  expect([form.statusCode, form.json().code]).toEqual([415, "unsupported_media_type"]);
});

test("no path parameter causes a 5xx", async () => {
  const { app, signUp } = await testApp();
  const headers = { authorization: `Bearer ${(await signUp()).token}` };
  for (const id of ["%00", "%ff", "%ed%a0%80", "..%2f..%2f", "x".repeat(2000), "'", "%F0%9F%98%80"]) {
    for (const url of [`/environments/${id}`, `/subdomains/${id}`, `/profile/${id}`, `/nothing/${id}`]) {
      const { statusCode } = await app.inject({ url, headers });
      expect(statusCode, url).toBeLessThan(500);
    }
    for (const url of [
      `/environments/${id}/cancel`,
      `/docker/payments/clear/${id}`,
      `/docker/stop_container/${id}/${id}`,
    ]) {
      const { statusCode } = await app.inject({ method: "POST", url, headers, payload: {} });
      expect(statusCode, url).toBeLessThan(500);
    }
  }
});

test("invalid tokens are refused and rate-limited", async () => {
  const { app } = await testApp({ UNAUTHENTICATED_PER_MINUTE: "5" });
  const call = () => app.inject({ url: "/notifications", headers: { authorization: "Bearer not.a.token" } });
  for (let n = 0; n < 5; n++) expect((await call()).json().code).toBe("unauthenticated");
  const limited = await call();
  expect([limited.statusCode, limited.json().code]).toEqual([429, "rate_limited"]);
  expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
});

test("requests of a user are rate-limited", async () => {
  const { app, signUp } = await testApp({ REQUESTS_PER_MINUTE: "4" });
  const headers = { authorization: `Bearer ${(await signUp()).token}` };
  for (let n = 0; n < 4; n++) expect((await app.inject({ url: "/notifications", headers })).statusCode).toBe(200);
  expect((await app.inject({ url: "/notifications", headers })).statusCode).toBe(429);
});

test("an unknown action and an unknown path are not found", async () => {
  const { app, signUp } = await testApp();
  const headers = { authorization: `Bearer ${(await signUp()).token}` };
  for (const url of ["/docker/explode_container/x/y", "/docker/payments/none", "/nothing"]) {
    const answer = await app.inject({ method: "POST", url, headers, payload: {} });
    expect([answer.statusCode, answer.json().code], url).toEqual([404, "not_found"]);
  }
});

test("a cross-site write is refused, a read is not", async () => {
  const { app } = await testApp();
  const headers = { "sec-fetch-site": "same-site" };
  const post = await app.inject({ method: "POST", url: "/auth/signup", headers, payload: {} });
  expect([post.statusCode, post.json().code]).toEqual([403, "forbidden"]);
  expect((await app.inject({ url: "/config", headers })).statusCode).toBe(200);
});

test("OpenAPI lists exactly the mounted calls", async () => {
  const { app } = await testApp();
  const { paths } = (await app.inject({ url: "/openapi.json" })).json();
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining([
      "/auth/validate",
      "/auth/signup",
      "/profile/{user_id}",
      "/docker/{action}_container/{container_id}/{user_id}",
      "/docker/payments/create_order",
      "/docker/payments/clear/{order_id}",
      "/docker/environment/create",
      "/environments/{id}/sign-in-code",
    ]),
  );
  expect(
    Object.keys(paths).filter((path) => path.startsWith("/embedded-gateway") || path.startsWith("/identity")),
  ).toEqual([]);
  expect(paths["/docker/{action}_container/{container_id}/{user_id}"].post.parameters[0].schema.enum).toContain(
    "restart",
  );
});

test("responses have security headers, and no cache keeps what an account reads", async () => {
  const { app, signUp } = await testApp();
  const { token } = await signUp();
  const read = (url: string) => app.inject({ url, headers: { authorization: `Bearer ${token}` } });
  expect((await read("/auth/validate")).headers["cache-control"]).toBe("no-store");
  expect((await read("/environments/none")).headers["cache-control"]).toBe("no-store");
  const { headers } = await app.inject({ url: "/config" });
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["content-security-policy"]).not.toContain("razorpay");
  expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
  expect(headers["x-content-type-options"]).toBe("nosniff");
});

test("an unknown host gets 421 before any route", async () => {
  const { app } = await testApp();
  const address = app.server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const status = async (host: string) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.write(`GET /config HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    let text = "";
    for await (const chunk of socket) text += chunk;
    return Number(text.split(" ")[1]);
  };
  expect(await status("evil.example")).toBe(421);
  expect(await status("localhost")).toBe(200);
  expect(await status("nobody.localhost")).toBe(404);
});
