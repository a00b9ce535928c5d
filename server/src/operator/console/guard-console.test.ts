import { createSecretKey, hkdfSync } from "node:crypto";
import { SignJWT } from "jose";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { testApp } from "../../testing/test-app.ts";
import { removeOperator } from "../accounts/add-operator.ts";
import { cli, consoleUrl, secret, testConsole } from "./testing/test-console.ts";

const cookie = "operator-session";

test("G143 a sign-in ends after 30 idle minutes, after 12 hours, by signing out and with its account", async () => {
  const { db, enrol } = await testConsole();
  const ways: Readonly<Record<string, (own: Awaited<ReturnType<typeof enrol>>) => Promise<unknown>>> = {
    idle: () => sql`update operator_sessions set seen_at = now() - interval '31 minutes'`.execute(db),
    old: () => sql`update operator_sessions set expires_at = now()`.execute(db),
    "signed out": (own) => own.must("DELETE", "session", {}),
    removed: ({ email }) => removeOperator(db, email, cli),
  };
  for (const [name, end] of Object.entries(ways)) {
    const own = await enrol(`${name.replace(" ", "-")}@berth.example`);
    const token = own.cookies.get(cookie) ?? "";
    await own.must("GET", "session");
    await end(own);
    own.cookies.set(cookie, token);
    const { statusCode, body } = await own.call("GET", "session");
    expect([statusCode, JSON.parse(body).code], name).toEqual([401, "unauthenticated"]);
  }
});

test("a request within 30 minutes keeps the sign-in", async () => {
  const { db, enrol } = await testConsole();
  const own = await enrol();
  for (let n = 0; n < 3; n += 1) {
    await sql`update operator_sessions set seen_at = seen_at - interval '29 minutes'`.execute(db);
    await own.must("GET", "session");
  }
});

test("G143 a tenant's token and a forged one open no console, and an operator's opens nothing of a tenant", async () => {
  const tenants = await testApp();
  const { enrol, browser, app } = await testConsole({ db: tenants.db });
  const own = await enrol();
  const token = own.cookies.get(cookie) ?? "";
  const { id, token: tenant } = await tenants.signUp();
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "operator session v1", 32)));
  const sign = (audience: string, jti: string, by = key) =>
    new SignJWT().setProtectedHeader({ alg: "HS256" }).setAudience(audience).setJti(jti).sign(by);
  const jti = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).jti;
  const forged = {
    "a tenant's token": tenant,
    "another audience": await sign("berth", jti),
    "another secret": await sign("operator", jti, createSecretKey(Buffer.alloc(32))),
    "no such sign-in": await sign("operator", newId()),
    garbage: "a.b.c",
    nothing: "",
  };
  for (const [name, value] of Object.entries(forged)) {
    const eve = browser();
    eve.cookies.set(cookie, value);
    expect((await eve.call("GET", "session")).statusCode, name).toBe(401);
    const bearer = await app.inject({
      url: "/operator/api/session",
      headers: { host: new URL(consoleUrl).host, authorization: `Bearer ${token}` },
    });
    expect(bearer.statusCode, "as a bearer token").toBe(401);
  }
  expect((await tenants.call("GET", `/profile/${id}`, token)).statusCode).toBe(401);
  const asCookie = { cookie: `${cookie}=${token}` };
  expect((await tenants.app.inject({ url: `/profile/${id}`, headers: asCookie })).statusCode).toBe(401);
});

test("every call of the console but the sign-in and links needs a sign-in, and no tenant's port has one of them", async () => {
  const tenants = await testApp();
  const { routes, browser } = await testConsole({ db: tenants.db });
  const calls = routes.filter(({ config }) => config?.auth === "operator");
  expect(calls.length).toBeGreaterThan(4);
  for (const { method, url } of calls) {
    const path = url.replace(/:\w+\(\^\(\?:(\w+)[^)]*\)\$\)/g, "$1");
    expect((await browser().call(method, path, method === "GET" ? undefined : {})).statusCode, path).toBe(401);
  }
  const others = routes.filter((route) => !calls.includes(route)).map(({ method, url }) => `${method} ${url}`);
  expect(others.sort()).toEqual([
    "GET /",
    "GET /operator/assets/main-abc.js",
    "POST /operator/api/link/open",
    "POST /operator/api/link/spend",
    "POST /operator/api/session",
  ]);
  expect(tenants.routes.filter(({ url }) => url.startsWith("/operator"))).toEqual([]);
  expect((await tenants.app.inject({ url: "/operator", headers: { accept: "text/html" } })).statusCode).toBe(404);
});

test("another host, another origin, none, and another body than JSON are refused", async () => {
  const { browser } = await testConsole();
  const own = browser();
  const body = { email: "ada@berth.example", password: "x", code: "" };
  const send = (headers: object) => own.call("POST", "session", body, headers);
  expect((await own.call("GET", "/operator", undefined, { host: "evil.example" })).statusCode).toBe(421);
  expect((await send({ host: "localhost:3000" })).statusCode).toBe(421);
  for (const headers of [{ origin: "http://localhost:3000" }, { origin: "null" }, { origin: "" }])
    expect((await send(headers)).json().code, String(headers.origin)).toBe("forbidden");
  expect((await send({ "sec-fetch-site": "same-site" })).json().code).toBe("forbidden");
  expect((await send({ "content-type": "text/plain" })).statusCode).toBe(415);
  expect((await send({})).json().code).toBe("wrong_password");
});

test("the page has strict headers, and cookies are for this browser's console only", async () => {
  const { browser } = await testConsole();
  const { headers, body, statusCode } = await browser().call("GET", "/operator/audit", undefined, {
    accept: "text/html",
  });
  expect([statusCode, body]).toEqual([200, expect.stringContaining("<title>Berth operator</title>")]);
  expect(headers["content-security-policy"]).toMatch(/script-src 'self' 'sha256-[^']+';.*frame-ancestors 'none'/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect((await browser().call("GET", "/")).headers.location).toBe("/operator");
  expect((await browser().call("GET", "/operator/assets/main-abc.js")).headers["cache-control"]).toContain("immutable");
  expect((await browser().call("GET", "/operator/assets/none.js")).statusCode).toBe(404);
  const tls = await testConsole({ url: "https://desk.example", env: { OPERATOR_URL: "https://desk.example" } });
  const own = await tls.enrol();
  const signedIn = await own.call("POST", "session", {
    email: own.email,
    password: own.password,
    code: own.recoveryCodes[0],
  });
  expect(String(signedIn.headers["set-cookie"])).toMatch(
    /^__Host-operator-session=\S+; Path=\/; HttpOnly; SameSite=Strict; Secure,__Host-operator-browser=\S+; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=7776000$/,
  );
  expect(signedIn.headers["cache-control"]).toBe("no-store");
  expect(signedIn.headers["strict-transport-security"]).toBeDefined();
});
