import { signInCode } from "@berth/contract";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { handleErrors } from "../../http/handle-errors.ts";
import { createHostNames } from "../target/host-names.ts";
import { type Reply, setupGateway, upstreamServer } from "../testing/setup-gateway.ts";
import { gatewayRoutes } from "./gateway-routes.ts";
import { localPath } from "./sign-in.ts";

const html = { accept: "text/html,application/xhtml+xml" };

async function running() {
  const cookies: (string | undefined)[] = [];
  const upstream = await upstreamServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.end("notebook");
  });
  const given = await setupGateway();
  const row = await given.environment({ port: upstream.port });
  await expect.poll(() => given.ask(given.hostOf(row), "/").then(({ status }) => status)).toBe(401);
  return { ...given, upstream, cookies, row, host: given.hostOf(row) };
}

/** Visit value and cookie of a redirect to the app. */
function startOf({ headers }: Reply) {
  const visit = new URL(headers.location ?? "").searchParams.get("visit") ?? "";
  return { visit, cookie: headers["set-cookie"]?.[0]?.split(";")[0] ?? "" };
}

/** The app's calls, with the user taken from the `x-user` header. */
function routes(given: Awaited<ReturnType<typeof running>>) {
  const app = Fastify();
  handleErrors(app);
  app.addHook("preParsing", async (request) => {
    const id = request.headers["x-user"];
    if (typeof id === "string")
      request.user = { id, email: "a@b.example", emailVerified: true, name: "A", sessionId: null };
  });
  gatewayRoutes(app, { db: given.db, hosts: createHostNames({ appUrl: given.appUrl, envHost: "localhost" }) });
  onTestFinished(() => app.close());
  return (id: string, user?: string, payload: { visit?: string } = {}) =>
    app.inject({
      method: "POST",
      url: `/environments/${id}/sign-in-code`,
      payload,
      headers: user === undefined ? {} : { "x-user": user },
    });
}

test("a browser signs in through the app and returns with a cookie and a clean URL", async () => {
  const given = await running();
  const { ask, host, row, appUrl, gateway } = given;
  const first = await ask(host, "/lab/tree/a b?x=1".replace(" ", "%20"), { headers: html });
  const out = startOf(first);
  expect([first.status, first.headers.location]).toEqual([
    302,
    `${appUrl}/open?environment=${row.subdomain}&path=%2Flab%2Ftree%2Fa%2520b%3Fx%3D1&visit=${out.visit}`,
  ]);
  expect(first.headers["cache-control"]).toBe("no-store");
  expect(first.headers["set-cookie"]?.[0]).toMatch(
    /^env-visit=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/,
  );

  const issued = signInCode.reply.parse((await routes(given)(row.subdomain, "owner", { visit: out.visit })).json());
  const browser = { ...html, cookie: out.cookie };
  const url = new URL(issued.url);
  expect(url.host).toBe(host);
  url.searchParams.set("path", "/lab/tree/a%20b?x=1");
  const clearing = await ask(host, url.pathname + url.search, { headers: browser });
  expect([clearing.status, clearing.headers["clear-site-data"], clearing.headers["set-cookie"]]).toEqual([
    302,
    '"storage"',
    undefined,
  ]);
  const exchanged = await ask(host, clearing.headers.location as string, { headers: browser });
  expect([exchanged.status, exchanged.headers.location]).toEqual([302, "/lab/tree/a%20b?x=1"]);
  expect(exchanged.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  const cookie = exchanged.headers["set-cookie"]?.[0] ?? "";
  expect(cookie).toMatch(/^env=[0-9a-z]{25}\.\d+\.[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
  const headers = { cookie: cookie.split(";")[0] as string };
  expect((await ask(host, "/lab", { headers })).body).toBe("notebook");
  expect(gateway.openSockets).toBe(0);

  const again = await ask(host, clearing.headers.location as string, { headers: html });
  expect([again.status, again.body.includes("no longer works")]).toEqual([400, true]);
  expect((await ask(host, clearing.headers.location as string, { headers })).headers.location).toBe(
    "/lab/tree/a%20b?x=1",
  );
});

test("a code signs in only the browser that it is bound to; any other browser starts its own sign-in", async () => {
  const given = await running();
  const { ask, row, host, codeFor, appUrl } = given;
  await given.signedIn(row);
  const victim = {
    ...html,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  const follow = (code: string, headers: Record<string, string> = victim) =>
    ask(host, `/_berth/sign-in?code=${code}&path=/lab/tree/x`, { headers });
  // Links of an attacker: without the visit cookie, with another browser's, and with an unbound code.
  const mallory = startOf(await ask(host, "/lab", { headers: html }));
  const own = startOf(await ask(host, "/lab", { headers: html }));
  expect(own.visit).not.toBe(mallory.visit);
  const links = [
    await follow(await codeFor(row, null, mallory.visit)),
    await follow(await codeFor(row, null, mallory.visit), { ...victim, cookie: own.cookie }),
    await follow(await codeFor(row)),
    await follow(await codeFor(row), html),
    await follow(await codeFor(row), { "sec-fetch-site": "same-site", accept: "image/*" }),
    await follow(await codeFor(row, null, mallory.visit), {}),
  ];
  for (const reply of links) {
    expect(reply.headers["set-cookie"]?.map((cookie) => cookie.split("=")[0])).toEqual(["env-visit"]);
    expect(reply.headers.location).toContain(
      `${appUrl}/open?environment=${row.subdomain}&path=%2Flab%2Ftree%2Fx&visit=`,
    );
  }
  // The owner's own browser completes the sign-in with a code of its own; its tabs share one visit value.
  const again = startOf(await follow(await codeFor(row), { ...victim, cookie: own.cookie }));
  expect(again).toEqual(own);
  const back = await follow(await codeFor(row, null, own.visit), { ...victim, cookie: own.cookie });
  expect([back.headers.location, back.headers["set-cookie"]?.[0]?.split("=")[0]]).toEqual(["/lab/tree/x", "env"]);
  // A program needs no visit value, and the cookie is not forwarded.
  expect((await follow(await codeFor(row), {})).headers["set-cookie"]?.[0]).toMatch(/^env=/);
  const headers = { cookie: `${own.cookie}; a=1`, authorization: `token ${row.secret}` };
  expect((await ask(host, "/", { headers })).status).toBe(200);
  expect(given.cookies).toEqual(["a=1"]);
});

test("a second visit clears nothing; on a subdomain of another user before, the first clears cookies too", async () => {
  const { ask, codeFor, signedIn, environment, row, host, hostOf, port } = await running();
  await signedIn(row);
  const second = await ask(host, `/_berth/sign-in?code=${await codeFor(row)}&path=/lab`);
  expect([second.headers["clear-site-data"], second.headers.location]).toEqual([undefined, "/lab"]);
  await environment({ subdomain: "handed-on", user_id: "former", status: "terminated" });
  const other = await environment({ subdomain: "handed-on", port });
  await expect.poll(() => ask(hostOf(other), "/").then(({ status }) => status)).toBe(401);
  const first = await ask(hostOf(other), `/_berth/sign-in?code=${await codeFor(other)}&path=/lab`);
  expect(first.headers["clear-site-data"]).toBe('"cookies", "storage"');
});

test("codes are for the caller's own environments; another user's and a missing one get the same refusal", async () => {
  const given = await running();
  const ask = routes(given);
  expect((await ask(given.row.id)).statusCode).toBe(401);
  expect((await ask(given.row.id, "owner")).statusCode).toBe(200);
  const refused = [
    await ask(given.row.id, "other"),
    await ask(given.row.subdomain, "other"),
    await ask("nothing", "owner"),
    await ask("%00", "owner"),
    await ask("a".repeat(90), "owner"),
  ];
  for (const reply of refused) expect([reply.statusCode, reply.body]).toEqual([404, refused[0]?.body]);
});

test("a code works once, for 30 seconds, on its own host only, also for concurrent requests", async () => {
  const { ask, codeFor, environment, hostOf, row, host, db } = await running();
  const other = await environment({ subdomain: "other-one", user_id: "owner" });
  await expect.poll(() => ask(hostOf(other), "/").then(({ status }) => status)).toBe(401);
  const code = await codeFor(row);
  const redeem = (at: string, one = code) => ask(at, `/_berth/sign-in?code=${one}&path=/lab&cleared=1`);
  expect((await redeem(hostOf(other))).status).toBe(400);
  const both = await Promise.all(Array.from({ length: 5 }, () => redeem(host)));
  expect(both.filter(({ headers }) => headers["set-cookie"])).toHaveLength(1);
  const late = await codeFor(row);
  await db
    .updateTable("sign_in_codes")
    .set({ expires_at: new Date(Date.now() - 1000) })
    .where("used_at", "is", null)
    .execute();
  expect((await redeem(host, late)).status).toBe(400);
  expect((await ask(host, "/_berth/sign-in")).status).toBe(400);
  expect((await ask(host, "/_berth/anything")).status).toBe(404);
});

test("a code of a signed-out session is invalid", async () => {
  const { ask, codeFor, db, row, host } = await running();
  await db
    .insertInto("identity_user")
    .values({ id: "owner", email: "a@b.example", email_key: "a@b.example" } as never)
    .execute();
  await db
    .insertInto("identity_session")
    .values({ id: "s1", user_id: "owner", expires_at: new Date(Date.now() + 1e6), revoked_at: new Date() } as never)
    .execute();
  const reply = await ask(host, `/_berth/sign-in?code=${await codeFor(row, "s1")}&cleared=1`);
  expect([reply.status, reply.headers["set-cookie"]]).toEqual([400, undefined]);
});

test("a cookie is valid for its own environment only, unmodified, until it is revoked", async () => {
  const { ask, signedIn, environment, hostOf, row, host, db, upstream } = await running();
  const cookie = await signedIn(row);
  const status = (value: string, at = host) =>
    ask(at, "/", { headers: { cookie: value } }).then((reply) => reply.status);
  expect(await status(cookie)).toBe(200);
  expect(await status(`env=junk; env=a.b.c; ${cookie}`)).toBe(200);
  const [id, expiry, mac] = cookie.slice(4).split(".") as [string, string, string];
  const changed = [
    `env=${id}.${Number(expiry) + 1}.${mac}`,
    `env=${id}.${expiry}.${"A".repeat(43)}`,
    `env=${id}.${expiry}`,
    `env=x${id}.${expiry}.${mac}`,
    "env=",
  ];
  for (const value of changed) expect([value, await status(value)]).toEqual([value, 401]);
  const other = await environment({ subdomain: "other-one", port: upstream.port, user_id: "other" });
  await expect.poll(() => status(cookie, hostOf(other))).toBe(401);
  await db.updateTable("grants").set({ revoked_at: new Date() }).where("id", "=", id).execute();
  await expect.poll(() => status(cookie), { timeout: 1000 }).toBe(401);
});

test("scripts authenticate by the environment's secret, and by nothing else", async () => {
  const { ask, row, host, signedIn } = await running();
  const status = (authorization: string, more = {}) =>
    ask(host, "/api", { headers: { authorization, ...more } }).then((reply) => reply.status);
  expect(await status(`token ${row.secret}`)).toBe(200);
  expect(await status(`Bearer ${row.secret}`)).toBe(200);
  for (const wrong of [`token ${row.runToken}`, "token ", `token ${row.secret}x`, "Bearer x"])
    expect(await status(wrong)).toBe(401);
  // JupyterLab's own pages send a token of theirs in the header; the owner's cookie takes precedence.
  expect(await status("token wrong", { cookie: await signedIn(row) })).toBe(200);
  expect(await status("token wrong", html)).toBe(401);
});

test("a page of another origin cannot act with the cookie", async () => {
  const { ask, row, host, signedIn } = await running();
  const cookie = await signedIn(row);
  const status = (method: string, headers: Record<string, string>) =>
    ask(host, "/api/contents", { method, headers: { cookie, ...headers } }).then((reply) => reply.status);
  const own = `http://${host}`;
  expect(await status("POST", { origin: own, "sec-fetch-site": "same-origin" })).toBe(200);
  expect(
    await status("GET", { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }),
  ).toBe(200);
  expect(
    await status("GET", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }),
  ).toBe(200);
  expect(await status("POST", { origin: "http://evil.localhost" })).toBe(403);
  expect(await status("POST", { origin: "null" })).toBe(403);
  expect(
    await status("POST", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }),
  ).toBe(403);
  expect(
    await status("GET", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }),
  ).toBe(403);
  expect(
    await status("GET", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }),
  ).toBe(403);
});

test("during a database outage signed-in users are served, and a sign-in is a 503", async () => {
  const { ask, row, host, signedIn, codeFor, database } = await running();
  const cookie = await signedIn(row);
  const code = await codeFor(row);
  await database.db.destroy();
  expect((await ask(host, "/", { headers: { cookie } })).body).toBe("notebook");
  const reply = await ask(host, `/_berth/sign-in?code=${code}`, { headers: html });
  expect([reply.status, reply.headers["retry-after"]]).toEqual([503, "2"]);
});

test("the redirect after a sign-in is always a path on this host", () => {
  for (const path of [
    "//evil.test",
    "/\\evil.test",
    "/\t/evil.test",
    "/.//evil.test",
    "https://evil.test",
    "lab",
    "",
    "/_berth/sign-in?code=1",
    "/x/..//evil.test",
  ])
    expect([path, localPath(path)]).toEqual([path, "/lab"]);
  expect(localPath("/lab/tree/ü?a=1#b")).toBe("/lab/tree/%C3%BC?a=1#b");
  expect(localPath(null)).toBe("/lab");
});
