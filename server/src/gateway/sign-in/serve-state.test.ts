import { barState } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { createShareLink } from "../../environments/api/share-links.ts";
import type { Fields } from "../testing/insert-environment.ts";
import { poll, setupGateway } from "../testing/setup-gateway.ts";

const hours = (count: number) => new Date(Date.now() + count * 3_600_000);

/** An environment with the owner's cookie; `state` is what the bar gets. */
async function setup(fields: Fields = { port: 1, expires_at: hours(1) }) {
  const given = await setupGateway();
  const { ask, environment, hostOf, signedIn, db } = given;
  const row = await environment(fields);
  const host = hostOf(row);
  const cookie = await signedIn(row);
  const reply = (headers: Record<string, string> = { cookie }) => ask(host, "/_berth/state", { headers });
  const state = async (headers?: Record<string, string>) => {
    const { status, body } = await reply(headers);
    expect([status, body]).toEqual([200, expect.any(String)]);
    return barState.parse(JSON.parse(body));
  };
  const guest = async () => {
    const { secret } = await createShareLink(db, { id: row.id, userId: row.userId }, "1h");
    const entered = await ask(host, "/_berth/share", {
      method: "POST",
      headers: { origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded" },
      body: `key=${secret}`,
    });
    return { cookie: String(entered.headers["set-cookie"]?.[0]?.split(";")[0]) };
  };
  return { ...given, row, host, cookie, reply, state, guest };
}

test("the owner gets time, cost, the last measurement and the app's addresses, and it is no activity (G392)", async () => {
  const { db, row, state, appUrl } = await setup({ port: 1, expires_at: hours(1.5) });
  const { order_id } = await db.selectFrom("environments").select("order_id").executeTakeFirstOrThrow();
  await db
    .updateTable("orders")
    .set({ status: "fulfilled", hours: 2, closed_at: new Date(), paid_at: new Date(), gateway_order_id: "order_1" })
    .execute();
  await sql`
    insert into payments (id, order_id, user_id, gateway, gateway_payment_id, amount_minor, currency, status, settles_order, method)
    select ${newId()}, ${order_id}, 'owner', 'embedded', 'pay_1', 40, 'USD', 'captured', true, 'card'`.execute(db);
  const minute = { environment_id: row.id, span_seconds: 60, at: new Date(), looks: 1 } as const;
  await db
    .insertInto("samples")
    .values({ ...minute, cpu_cores: 1.5, memory_mb: 2100, home_mb: 1 })
    .execute();
  await db.insertInto("gpus").values({ id: "g", host_id: "local", kind: "gpu", memory_mb: 80_000 }).execute();
  await db
    .insertInto("gpu_samples")
    .values({ ...minute, gpu_id: "g", use_percent: 87, memory_mb: 20_000 })
    .execute();
  await db
    .insertInto("activity")
    .values({ environment_id: row.id, last_busy_at: new Date(0) })
    .execute();
  const page = `${appUrl}/environments/${row.id}`;
  expect(await state()).toEqual({
    name: row.subdomain,
    availability: "open",
    now: expect.any(String),
    closed: null,
    rental: {
      plan: "hourly",
      expires_at: expect.any(String),
      banked_seconds: 0,
      booked: { seconds: 7200, paid: [{ currency: "USD", minor: 40, used_minor: 11 }] },
      page_url: page,
      add_time_url: `${page}?extend=${row.id}`,
    },
    sample: {
      cpu_cores: 1.5,
      memory_mb: 2100,
      gpu: { use_percent: 87, memory_mb: 20_000, total_memory_mb: 80_000 },
    },
  });
  const { last_busy_at } = await db.selectFrom("activity").selectAll().executeTakeFirstOrThrow();
  expect(last_busy_at).toEqual(new Date(0));
});

test("a guest gets the name and one sentence; nobody, a token and a name of somebody else get what a free name gets (G392)", async () => {
  const { ask, port, state, reply, guest, row, db } = await setup();
  const asGuest = await guest();
  const nothing = { closed: null, rental: null, sample: null };
  expect(await state(asGuest)).toMatchObject({ name: row.subdomain, availability: "open", ...nothing });
  await db.updateTable("environments").set({ desired: "paused", status: "paused" }).execute();
  await expect.poll(async () => (await state(asGuest)).availability).toBe("paused");
  const closed = {
    title: "This environment is paused",
    text: "It goes on when its owner resumes it.",
    at: null,
    by: "",
  };
  expect(await state(asGuest)).toMatchObject({ closed, rental: null });
  const free = await ask(`free-name.localhost:${port}`, "/_berth/state");
  for (const headers of [{}, { cookie: "env=a.b.c" }, { authorization: `token ${row.secret}` }]) {
    const { status, body } = await reply(headers as Record<string, string>);
    expect([status, body], JSON.stringify(headers)).toEqual([404, free.body]);
  }
});

test.each([
  ["starting", { status: "pending", stage: "image" }, "This environment is starting", /opens by itself/],
  [
    "paused",
    { status: "paused", desired: "paused", expires_at: hours(2.5) },
    "is paused",
    /memory and GPUs are kept.*2h 29m left/,
  ],
  ["stopped", { status: "active", desired: "stopped", expires_at: hours(1) }, "is being stopped", /its files are kept/],
  ["ended", { status: "active", expires_at: new Date(Date.now() - 1000) }, "ended", /Your files are kept/],
  ["not_answering", { status: "active", expires_at: hours(1) }, "does not answer", /no answer since/],
] as const)("%s: the page's own sentence (G392)", async (availability, fields, title, text) => {
  const { state, appUrl, row } = await setup(fields);
  expect(await state()).toMatchObject({
    availability,
    closed: { title: expect.stringContaining(title), text: expect.stringMatching(text), is_final: false },
    rental: { page_url: `${appUrl}/environments/${row.id}` },
    sample: null,
  });
});

/** As the reconciler writes a stop: the session and the grants end in one transaction. */
async function endRun(db: Awaited<ReturnType<typeof setup>>["db"], id: string, reason: string, changes: object) {
  await sql`insert into sessions (id, environment_id, user_id, container_type, opened_at)
    values (${newId()}, ${id}, 'owner', 'jupyter', now() - interval '1 hour')`.execute(db);
  await db.transaction().execute(async (tx) => {
    await sql`update sessions set closed_at = now(), reason = ${reason} where environment_id = ${id} and closed_at is null`.execute(
      tx,
    );
    await sql`update grants set revoked_at = now() where environment_id = ${id}`.execute(tx);
    await tx
      .updateTable("environments")
      .set({ run_token: null, endpoint: null, ...changes })
      .where("id", "=", id)
      .execute();
  });
}

const stopped = { status: "stopped", desired: "stopped", expires_at: null, banked_seconds: 3720 };

test("a page whose run was stopped learns when and by whom, though its cookie ended with the run; its owner's alone (G393)", async () => {
  const { db, row, state, reply, guest, ask, host, cookie } = await setup();
  const asGuest = await guest();
  await endRun(db, row.id, "stopped", stopped);
  await expect.poll(async () => (await state()).closed?.title).toBe("This environment was stopped");
  const { closed, rental } = await state();
  expect(closed).toMatchObject({ by: "by you", is_final: true, text: "Your files are safe and 1h 2m are banked." });
  expect(Math.abs(Date.parse(closed?.at ?? "") - Date.now())).toBeLessThan(120_000);
  expect(rental).toMatchObject({ banked_seconds: 3720 });
  expect(await state(asGuest)).toMatchObject({ closed: { by: "", at: null }, rental: null });
  expect((await ask(host, "/lab", { headers: { cookie } })).status, "it opens nothing").toBe(401);
  expect(await state(), "right after another request of the page").toMatchObject({ closed: { by: "by you" } });
  await db
    .insertInto("notifications")
    .values({
      ...{ id: newId(), user_id: "owner", cause: `operator-stopped:${row.id}:0`, title: "", body: "" },
    })
    .execute();
  await db.updateTable("environments").set({ banked_seconds: 3600 }).execute();
  await expect.poll(async () => (await state()).closed?.by).toBe("by whoever runs this service");
  await db
    .updateTable("environments")
    .set({
      ...{
        status: "active",
        desired: "running",
        run_token: "t",
        endpoint: JSON.stringify({ host: "127.0.0.1", port: 1 }),
      },
    })
    .execute();
  await expect.poll(async () => (await state()).availability).toBe("open");
  expect(await state()).toMatchObject({ closed: { title: "This environment runs again" }, rental: null, sample: null });
  await db.updateTable("grants").set({ revoked_at: new Date() }).execute();
  expect((await reply()).status, "a sign-out ends that too").toBe(404);
});

test.each([
  ["idle", stopped, "This environment was stopped because it was idle"],
  [
    "expired",
    { status: "terminated", desired: "terminated", ended_reason: "expired", terminated_at: new Date() },
    "This environment ended because its time is over",
  ],
  [
    "terminated",
    { status: "terminated", desired: "terminated", ended_reason: "terminated", terminated_at: new Date() },
    "This environment was ended by you",
  ],
])("the reason of an end: %s (G393)", async (reason, changes, sentence) => {
  const { db, row, state } = await setup();
  const until = { name: row.subdomain, user_id: "owner", retained_until: new Date("2099-12-20T10:00:00Z") };
  await db
    .insertInto("subdomain_claims")
    .values({ ...until, order_id: null, held_until: null })
    .execute();
  await endRun(db, row.id, reason, changes);
  await expect.poll(async () => (await state()).closed?.is_final).toBe(true);
  const { closed } = await state();
  expect([closed?.title, closed?.by].join(" ")).toBe(sentence);
});

test("while the database is unavailable it says what the gateway remembers (G392)", async () => {
  const { database, beside, host, cookie } = await setup();
  const own = await database.beside();
  const second = await beside({ db: own.db });
  const state = async () => {
    const { status, body } = await second.ask(host, "/_berth/state", { headers: { cookie } });
    return status === 200 ? barState.parse(JSON.parse(body)) : undefined;
  };
  await poll(async () => (await second.ask(host, "/lab", { headers: { cookie } })).status === 502);
  await own.close();
  expect(await state()).toMatchObject({
    availability: "open",
    closed: null,
    sample: null,
    rental: { plan: null, booked: null },
  });
});

test("an answer of the database that comes late is there at the next question (G392)", async () => {
  const { db, state } = await setup();
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction().execute(async (tx) => {
    await sql`lock table sessions`.execute(tx);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  expect((await state()).rental).toMatchObject({ plan: null });
  released.resolve();
  await holding;
  // Less than the ten seconds after which it is read again.
  await expect.poll(async () => (await state()).rental?.plan, { timeout: 5000 }).toBe("hourly");
});

test("Stop in the bar is the owner's own form, and says why it cannot (G394)", async () => {
  const { ask, host, cookie, db, guest, row } = await setup();
  const asGuest = await guest();
  const post = (headers: Record<string, string> = {}) =>
    ask(host, "/_berth/stop", { method: "POST", headers: { origin: `http://${host}`, cookie, ...headers } });
  const desired = async () => (await db.selectFrom("environments").select("desired").executeTakeFirstOrThrow()).desired;
  const tokenOnly = { cookie: "", authorization: `token ${row.secret}` };
  for (const headers of [{ origin: "http://evil.example" }, { origin: "null" }, { cookie: "" }, asGuest, tokenOnly])
    expect([401, 403], JSON.stringify(headers)).toContain((await post(headers)).status);
  expect((await ask(host, "/_berth/stop", { headers: { cookie } })).status).toBe(404);
  expect(await desired()).toBe("running");
  expect((await post()).status).toBe(204);
  expect(await desired()).toBe("stopped");
  expect((await post()).status, "a second click").toBe(204);
  await db.updateTable("environments").set({ status: "pending", desired: "running" }).execute();
  await poll(async () => (await post()).status === 409);
  expect(JSON.parse((await post()).body)).toMatchObject({
    code: "action_not_allowed",
    message: expect.stringContaining("cannot be"),
  });
});
