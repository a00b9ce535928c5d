import { createServer } from "node:http";
import { maxShares, type ShareTerm } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { createShareLink, revokeShareLink } from "../../environments/api/share-links.ts";
import { testApp } from "../../testing/test-app.ts";
import { openUpstream, setupGateway } from "../testing/setup-gateway.ts";

const html = { accept: "text/html,application/xhtml+xml" };
const form = { "content-type": "application/x-www-form-urlencoded" };

/** A running environment of Ada's, and helpers for a guest with a share link. */
async function running() {
  const upstream = createServer((request, response) => void response.end(`notebook ${request.headers.cookie ?? ""}`));
  upstream.on("upgrade", (_, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    socket.pipe(socket);
  });
  const { port } = await openUpstream(upstream);
  const given = await setupGateway();
  const row = await given.environment({ port });
  const host = given.hostOf(row);
  await given.db.insertInto("profiles").values({ user_id: "owner", email: "ada@a.example", name: "Ada <b>" }).execute();
  await expect.poll(() => given.ask(host, "/").then(({ status }) => status)).toBe(401);
  const owned = { id: row.id, userId: row.userId };
  const link = async (term: ShareTerm = "1h") => {
    const { share, secret } = await createShareLink(given.db, owned, term);
    return { id: share.id, key: secret, path: `/_berth/share?key=${secret}` };
  };
  const post = (key: string, headers: Record<string, string> = { origin: `http://${host}` }, at = host) =>
    given.ask(at, "/_berth/share", { method: "POST", headers: { ...form, ...headers }, body: `key=${key}` });
  /** Signs in by the form; returns the cookie. */
  const enter = async (key: string) => {
    const reply = await post(key);
    expect(reply.status, reply.body).toBe(303);
    return String(reply.headers["set-cookie"]?.[0]?.split(";")[0]);
  };
  const status = (cookie: string, at = host) =>
    given.ask(at, "/lab", { headers: { cookie } }).then((reply) => reply.status);
  const socket = async (cookie: string) => {
    const client = given.open(
      `GET /api/kernels/1/channels HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: ${cookie}\r\nOrigin: http://${host}\r\n\r\n`,
    );
    await expect.poll(client.received).toMatch(/^HTTP\/1\.1 101/);
    let closed = false;
    void client.closed.then(() => (closed = true));
    return { ...client, isClosed: () => closed };
  };
  const views = async (id: string) =>
    (await given.db.selectFrom("share_links").where("id", "=", id).select("views").executeTakeFirstOrThrow()).views;
  return { ...given, row, host, port, owned, link, post, enter, status, socket, views };
}

test("a link shows its owner and asks; the form signs in, counts once and redirects to a clean URL (G50)", async () => {
  const { ask, host, link, post, views, status, db } = await running();
  const { id, key, path } = await link();
  for (const _ of [1, 2]) {
    const page = await ask(host, path, { headers: html });
    expect([page.status, page.headers["set-cookie"]]).toEqual([200, undefined]);
    expect(page.body).toContain("Ada &#60;b&#62; shares this environment with you");
    expect(page.headers).toMatchObject({ "cache-control": "no-store", "clear-site-data": '"storage"' });
    expect(page.headers["content-security-policy"]).toContain("form-action 'self'");
    expect(page.body).not.toContain("ada@a.example");
  }
  expect(await views(id), "a GET is no visit: mail programs preview links").toBe(0);
  for (const origin of [undefined, "null", "http://evil.localhost", `http://${host}.evil.test`])
    expect((await post(key, origin === undefined ? {} : { origin })).status).toBe(403);

  const entered = await post(key);
  expect([entered.status, entered.headers.location]).toEqual([303, "/lab"]);
  expect(entered.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  const set = entered.headers["set-cookie"]?.[0] ?? "";
  expect(set).toMatch(/^env=[0-9a-z]{25}\.\d+\.[\w-]{43}; Path=\/; Max-Age=3(598|599|600); HttpOnly; SameSite=Lax$/);
  const cookie = set.split(";")[0] as string;
  expect(await views(id)).toBe(1);
  expect((await ask(host, "/lab", { headers: { cookie } })).body, "nothing of it reaches the environment").toBe(
    "notebook ",
  );
  expect(await status(cookie)).toBe(200);
  expect((await ask(host, path, { headers: { ...html, cookie } })).headers.location, "again: already in").toBe("/lab");
  expect(await views(id)).toBe(1);
  const { rows } = await sql<{ stored: string }>`select string_agg(s::text, '') as stored from share_links s`.execute(
    db,
  );
  expect(rows[0]?.stored).not.toContain(key);
});

test("a link is valid for its own environment only, and an invalid key for none", async () => {
  const { ask, hostOf, environment, port, link, post, enter, status, host, row } = await running();
  const { key, path } = await link();
  const other = await environment({ port });
  const others = hostOf(other);
  await expect.poll(() => ask(others, "/").then((reply) => reply.status)).toBe(401);
  expect((await ask(others, path, { headers: html })).status).toBe(404);
  expect((await post(key, { origin: `http://${others}` }, others)).status).toBe(404);
  const cookie = await enter(key);
  expect(await status(cookie, others)).toBe(401);
  const [id, expiry, mac] = cookie.slice(4).split(".") as [string, string, string];
  expect(await status(`env=${id}.${Number(expiry) + 1}.${mac}`)).toBe(401);
  for (const wrong of ["", "x", key.slice(1), `${key}x`, row.secret, row.runToken, "%00", "x".repeat(2000)]) {
    const page = await ask(host, `/_berth/share?key=${wrong}`, { headers: html });
    expect([page.status, page.body.includes("This link no longer works")]).toEqual([404, true]);
    expect((await post(wrong)).status).toBe(404);
  }
  for (const method of ["PUT", "DELETE", "HEAD"]) expect((await ask(host, path, { method })).status).toBe(404);
  const crossSite = await ask(host, "/api/contents", {
    method: "POST",
    headers: { cookie, origin: "http://evil.localhost" },
  });
  expect(crossSite.status).toBe(403);
});

test("revoked: requests refused within 1 s, sockets closed within 2 s, no others affected", async () => {
  const { link, enter, status, socket, db, owned, signedIn, row, ask, host } = await running();
  const [taken, left] = [await link(), await link("24h")];
  const cookies = { taken: await enter(taken.key), left: await enter(left.key), owner: await signedIn(row) };
  const sockets = {
    taken: await socket(cookies.taken),
    left: await socket(cookies.left),
    owner: await socket(cookies.owner),
  };
  for (const _ of [1, 2]) await revokeShareLink(db, owned, taken.id);
  await expect.poll(() => status(cookies.taken), { timeout: 1000 }).toBe(401);
  await expect.poll(sockets.taken.isClosed, { timeout: 2000 }).toBe(true);
  expect([sockets.left.isClosed(), sockets.owner.isClosed()]).toEqual([false, false]);
  expect([await status(cookies.left), await status(cookies.owner)]).toEqual([200, 200]);
  expect((await ask(host, taken.path, { headers: html })).status).toBe(404);
});

test("expired: requests refused within 1 s, sockets closed within 2 s, without a notification", async () => {
  const { link, enter, status, socket, db } = await running();
  const { id, key } = await link();
  const soon = sql<Date>`now() + interval '3 seconds'`;
  await db.updateTable("share_links").set({ expires_at: soon }).where("id", "=", id).execute();
  const cookie = await enter(key);
  const open = await socket(cookie);
  expect([await status(cookie), open.isClosed()]).toEqual([200, false]);
  await expect.poll(() => status(cookie), { timeout: 4000 }).toBe(401);
  await expect.poll(open.isClosed, { timeout: 2000 }).toBe(true);
});

test("a guest of an environment that is not open sees its state, and no details of the rental", async () => {
  const { link, enter, ask, host, db, row, appUrl } = await running();
  const { key, path } = await link();
  const cookie = await enter(key);
  const become = (change: object) => db.updateTable("environments").set(change).where("id", "=", row.id).execute();
  const page = () => ask(host, "/lab", { headers: { ...html, cookie } });
  await become({ status: "paused", desired: "paused", expires_at: new Date(Date.now() + 3_600_000) });
  await expect.poll(async () => (await page()).status).toBe(503);
  const { body } = await page();
  expect(body).toContain("It goes on when its owner resumes it.");
  for (const affair of ["clock", "left", row.id, appUrl]) expect(body, affair).not.toContain(affair);
  await become({ desired: "terminated" });
  await expect.poll(async () => (await page()).status).toBe(410);
  expect((await ask(host, path, { headers: html })).status).toBe(404);
});

/** Locks the row of an environment; returns the release function. */
async function lock(db: Db, id: string): Promise<() => void> {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const done = db.transaction().execute(async (tx) => {
    await tx.selectFrom("environments").select("id").where("id", "=", id).forUpdate().execute();
    locked.resolve();
    await released.promise;
  });
  done.catch(locked.reject);
  await locked.promise;
  return released.resolve;
}

async function waiting(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%select % from environments % for update'`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}

test("share links by the API: created, listed without the secret, limited, revoked (G50, G86)", async () => {
  const product = await testApp();
  product.deliver();
  const ada = await product.signUp("Ada");
  const { environment_id: id } = await product.rent(ada, { gpu_count: 1 });
  const { must, call } = product;
  const make = (term: string = "24h") => call("POST", `/environments/${id}/share`, ada.token, { term });
  const shares = async () => (await must("GET", `/environments/${id}`, ada.token)).environment.shares;
  for (const term of ["1y", "", null, 24]) expect((await make(term as string)).statusCode).toBe(400);
  const asked = maxShares + 3;
  const release = await lock(product.db, id);
  const making = Promise.all(Array.from({ length: asked }, () => make()));
  await expect.poll(() => waiting(product.db), { timeout: 10_000 }).toBe(asked);
  release();
  const made = await making;
  expect(made.filter(({ statusCode }) => statusCode === 200)).toHaveLength(maxShares);
  const refused = made.find(({ statusCode }) => statusCode !== 200)?.json();
  expect(refused).toMatchObject({ code: "action_not_allowed", message: expect.stringContaining("5 links") });
  const { share, url } = made.find(({ statusCode }) => statusCode === 200)?.json() ?? {};
  expect(url).toMatch(/^http:\/\/first-lab\.localhost:3000\/_berth\/share\?key=[\w-]{43}$/);
  expect(Math.round((Date.parse(share.expires_at) - Date.now()) / 3_600_000)).toBe(24);
  expect(await shares()).toHaveLength(maxShares);
  expect(JSON.stringify(await shares())).not.toContain(new URL(url).searchParams.get("key"));
  const revoke = (which: string) => call("DELETE", `/environments/${id}/share/${which}`, ada.token, {});
  for (const _ of [1, 2]) expect((await revoke(share.id)).statusCode).toBe(200);
  expect((await revoke(newId())).statusCode).toBe(404);
  expect(await shares()).toHaveLength(maxShares - 1);
  await must("POST", `/environments/${id}/terminate`, ada.token, { confirm: "first-lab" });
  expect((await make()).json()).toMatchObject({ code: "action_not_allowed" });
  await expect.poll(shares, { timeout: 10_000 }).toEqual([]);
});
