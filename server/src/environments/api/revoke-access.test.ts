import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { type TestApp, type TestUser, testApp } from "../../testing/test-app.ts";

const password = "good password 1";
const next = "Second password 2!";

/** Ada's running environment, what a thief with her password and a browser took of it, and what is open. */
async function setup() {
  const product = await testApp();
  product.deliver();
  const { must, call, signUp, rent, url, db } = product;
  const ada = await signUp("Ada");
  const { environment_id: id, jupyter_token: secret } = await rent(ada);
  const host = "first-lab.localhost";
  const link = (await must("POST", `/environments/${id}/share`, ada.token, { term: "7d" })).url as string;
  const cookie = await enter(url, host, link);
  const bearer = (token: string) => ({ authorization: `token ${token}` });
  const status = (headers: Record<string, string>) => ask(url, host, { headers });
  await expect.poll(() => status(bearer(secret))).toBe(200);
  const sockets = [openSocket(url, host, bearer(secret)), openSocket(url, host, { cookie, origin: `http://${host}` })];
  for (const { heard } of sockets) await expect.poll(heard).toMatch(/^HTTP\/1\.1 101/);
  const archive = (await must("POST", `/environments/${id}/archive`, ada.token, {})).url as string;
  const opened = async (path: string) => openStream(`${url}${path}`, ada);
  return {
    ...{ ...product, ada, id, secret, link, cookie, sockets, archive, host, status, bearer },
    streams: [await opened("/events"), await opened(`/environments/${id}/logs`)],
    /** What the owner reads now, signed in again. */
    async tokenNow(word: string) {
      const signIn = "/identity/v1/accounts:signInWithPassword";
      const { idToken } = await must("POST", signIn, undefined, { email: ada.email, password: word });
      const { environment } = await must("GET", `/environments/${id}`, idToken);
      return { shares: environment.shares, token: environment.jupyter_token as string, idToken: idToken as string };
    },
    linkWorks: async () => (await ask(url, host, { path: link.slice(link.indexOf("/_berth")), html: true })) === 200,
    archiveWorks: async () => (await call("GET", archive)).statusCode === 200,
    notice: (cause: string) =>
      db.selectFrom("notifications").selectAll().where("cause", "like", `${cause}%`).executeTakeFirst(),
    mails: () => db.selectFrom("mails").select(["subject", "body_text"]).execute(),
  };
}

type World = Awaited<ReturnType<typeof setup>>;

/** Within 2 s (G109): nothing that was given away lets anybody in, and nothing that was open stays. */
async function expectEverythingEnded({ sockets, streams, status, bearer, secret, cookie, linkWorks }: World) {
  const closed = { timeout: 2000 };
  for (const each of [...sockets, ...streams]) await expect.poll(each.isClosed, closed).toBe(true);
  await expect.poll(() => status(bearer(secret)), closed).toBe(401);
  expect([await status({ cookie }), await linkWorks()]).toEqual([401, false]);
}

test("a password reset revokes links, replaces jupyter_token, and ends every socket and stream (G109)", async () => {
  const world = await setup();
  const { identity, ada, secret, tokenNow, status, bearer, notice, mails, archiveWorks } = world;
  const code = await identity.createActionCode("PASSWORD_RESET", ada.email);
  await identity.resetPassword(code ?? "", next);
  await expectEverythingEnded(world);
  const { shares, token } = await tokenNow(next);
  expect([shares, token === secret]).toEqual([[], false]);
  await expect.poll(() => status(bearer(token))).toBe(200);
  expect(await archiveWorks()).toBe(false);
  const recorded =
    "Every other sign-in has ended. 1 share link was revoked. 1 environment has a new password, which your scripts need. " +
    "If it was not you, reset the password now and write to us.";
  expect((await notice("password-changed:"))?.body).toBe(recorded);
  expect(await mails()).toContainEqual({
    subject: "Your password was changed",
    body_text: expect.stringContaining(recorded),
  });
});

test("a password change does the same and leaves only the sign-in that made it (G109)", async () => {
  const world = await setup();
  const { ada, must, url, id, tokenNow, secret } = world;
  const thief = await tokenNow(password);
  const theirs = await openStream(`${url}/events`, { token: thief.idToken });
  await must("POST", `/profile/${ada.id}/update_password`, ada.token, {
    current_password: password,
    new_password: next,
  });
  await expect.poll(theirs.isClosed, { timeout: 2000 }).toBe(true);
  const [events, logs] = world.streams;
  expect([events?.isClosed(), logs?.isClosed()], "the owner's own page goes on").toEqual([false, false]);
  await expectEverythingEnded({ ...world, streams: [] });
  const { environment } = await must("GET", `/environments/${id}`, ada.token);
  expect([environment.shares, environment.jupyter_token === secret]).toEqual([[], false]);
});

test("a suspension does the same, reports it, and leaves the environment running (G109)", async () => {
  const world = await setup();
  const { identity, ada, db, id, notice } = world;
  await identity.updateUser(ada.id, { disabled: true });
  await expectEverythingEnded(world);
  expect((await notice("suspended:"))?.body).toContain("1 share link was revoked.");
  const row = await db.selectFrom("environments").select("desired").where("id", "=", id).executeTakeFirst();
  expect(row?.desired).toBe("running");
});

test("a new password of one environment ends the visits by the old one, and nothing else (G109)", async () => {
  const { must, call, signUp, ada, id, secret, sockets, streams, status, bearer, cookie, linkWorks } = await setup();
  const { jupyter_token: drawn } = await must("POST", `/environments/${id}/rotate-secret`, ada.token, {});
  expect(drawn).not.toBe(secret);
  const [byToken, byLink] = sockets;
  await expect.poll(() => byToken?.isClosed(), { timeout: 2000 }).toBe(true);
  await expect.poll(() => status(bearer(drawn))).toBe(200);
  expect(await status(bearer(secret))).toBe(401);
  expect([byLink?.isClosed(), await status({ cookie }), await linkWorks()]).toEqual([false, 200, true]);
  expect(streams.map(({ isClosed }) => isClosed())).toEqual([false, false]);
  expect((await must("GET", `/environments/${id}`, ada.token)).environment.jupyter_token).toBe(drawn);

  const bob = await signUp("Bob");
  expect((await call("POST", `/environments/${id}/rotate-secret`, bob.token, {})).statusCode).toBe(404);
  await must("POST", `/environments/${id}/terminate`, ada.token, { confirm: "first-lab" });
  const late = await call("POST", `/environments/${id}/rotate-secret`, ada.token, {});
  expect([late.statusCode, late.json().code]).toEqual([409, "action_not_allowed"]);
});

test("a download that is under way ends with a new password (G109)", async () => {
  const { driver, url, archive, ada, identity } = await setup();
  driver.archive = async function* (_, signal) {
    yield Buffer.from("the first of many bytes");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  const download = await openStream(url + archive, ada);
  await identity.updateUser(ada.id, { password: next });
  await expect.poll(download.isClosed, { timeout: 2000 }).toBe(true);
});

test("a request of a sign-in that ends meanwhile is refused", async () => {
  const { db, identity, ada, id, call } = await setup();
  const shares = await db.selectFrom("share_links").select("id").execute();
  const release = await lock(db, id);
  const change = identity.updateUser(ada.id, { password: next });
  // The change waits for the row that is held here, and whoever asks now waits behind it.
  await expect.poll(() => waiting(db)).toBe(1);
  const asked = [
    call("POST", `/environments/${id}/share`, ada.token, { term: "7d" }),
    call("POST", `/environments/${id}/rotate-secret`, ada.token, {}),
  ];
  await expect.poll(() => waiting(db)).toBe(3);
  release();
  await change;
  expect((await Promise.all(asked)).map(({ statusCode }) => statusCode)).toEqual([401, 401]);
  expect(await db.selectFrom("share_links").select("id").execute()).toEqual(shares);
});

/** Holds the row of an environment until the answer is called. */
async function lock(db: TestApp["db"], id: string): Promise<() => void> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = db.transaction().execute(async (tx) => {
    await tx.selectFrom("environments").select("id").where("id", "=", id).forUpdate().execute();
    locked.resolve();
    await released.promise;
  });
  done.catch(locked.reject);
  await locked.promise;
  return released.resolve;
}

async function waiting(db: TestApp["db"]): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}

/** The cookie of somebody who agreed to come in by a link. */
async function enter(url: string, host: string, link: string): Promise<string> {
  const key = new URL(link).searchParams.get("key");
  const { promise, resolve } = Promise.withResolvers<string>();
  const headers = { host, origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded" };
  httpRequest(`${url}/_berth/share`, { method: "POST", headers }, (response) => {
    response.resume();
    resolve(String(response.headers["set-cookie"]?.[0]?.split(";")[0]));
  }).end(`key=${key}`);
  return await promise;
}

function ask(
  url: string,
  host: string,
  { path = "/api", headers = {}, html = false }: { path?: string; headers?: Record<string, string>; html?: boolean },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const given = { host, ...(html && { accept: "text/html" }), ...headers };
  httpRequest(url + path, { headers: given, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on("error", reject)
    .end();
  return promise;
}

function openSocket(url: string, host: string, headers: Record<string, string>) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let [heard, isClosed] = ["", false];
  socket.on("data", (chunk) => (heard += chunk.toString("latin1")));
  socket.on("close", () => (isClosed = true)).on("error", () => {});
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `GET /api/kernels/1/channels HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${lines.join("")}\r\n`,
  );
  onTestFinished(() => void socket.destroy());
  return { heard: () => heard, isClosed: () => isClosed };
}

async function openStream(url: string, { token }: Pick<TestUser, "token">) {
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: leave.signal });
  expect(response.status).toBe(200);
  let isClosed = false;
  void (async () => {
    for await (const _ of response.body ?? []);
  })()
    .catch(() => {})
    .finally(() => (isClosed = true));
  return { isClosed: () => isClosed };
}
