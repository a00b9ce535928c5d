import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import { hold, releaseHold } from "../allocation/hold.ts";
import { launch } from "../allocation/launch.ts";
import { readCapacity } from "../leases/read-capacity.ts";
import { enterQueue } from "../queue/join-queue.ts";
import { processQueue } from "../queue/process-queue.ts";
import { addHosts, addOrder, inMs, rent, writeOnly } from "../testing/setup-environments.ts";
import type { WarmRun } from "./warm-runs.ts";

/** Hosts with so many GPUs each, and runs that stand ready on given GPUs. */
async function setup(hosts: Record<string, number>, warm: readonly (readonly string[])[] = []) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await addHosts(db, hosts);
  const stand = async (gpus: readonly string[], change: Partial<WarmRun> = {}) => {
    const id = newId();
    const [host_id = ""] = gpus.map((gpu) => gpu.slice(0, 1));
    const run = { id, host_id, container_type: "jupyter", gpus: [...gpus], home: newId(), run_token: newId() };
    await db
      .insertInto("warm_runs")
      .values({ state: "ready", ...run, ...change })
      .execute();
    const leases = gpus.map((gpu_id) => ({ id: newId(), gpu_id, holder_kind: "pool" as const, holder_id: id }));
    await db.insertInto("gpu_leases").values(leases).execute();
    return id;
  };
  const ids = [];
  for (const gpus of warm) ids.push(await stand(gpus));
  return {
    db,
    ids,
    stand,
    runs: () => db.selectFrom("warm_runs").selectAll().orderBy("id").execute(),
    run: (id: string) => db.selectFrom("warm_runs").selectAll().where("id", "=", id).executeTakeFirst(),
    leases: () =>
      db
        .selectFrom("gpu_leases")
        .where("released_at", "is", null)
        .select(["gpu_id", "holder_kind", "holder_id"])
        .orderBy("gpu_id")
        .execute(),
    /** As create_order does: a refusal takes everything back. */
    async order({
      userId = newId(),
      gpuCount = 1,
      subdomain = `n${newId()}`,
      type = "jupyter",
      gate = async () => {},
    } = {}) {
      const orderId = await addOrder(db, { userId, subdomain, gpuCount, durationHours: 1 });
      await sql`update orders set container_type = ${type} where id = ${orderId}`.execute(db);
      const asked = { orderId, userId, subdomain, gpuCount };
      const held = await db
        .transaction()
        .execute(async (tx) => {
          const answer = await hold(tx, { ...asked, holdUntil: inMs(900_000) });
          await gate();
          if (!answer.ok) throw new Error(answer.message);
          return answer;
        })
        .catch((error: Error) => error.message);
      return { ...asked, held };
    },
    pay: (asked: { orderId: string; userId: string; subdomain: string; gpuCount: number }) =>
      db.transaction().execute((tx) =>
        launch(tx, {
          ...asked,
          ...{
            containerType: "jupyter",
            durationHours: 1,
            orderedAt: inMs(0),
            paidAt: inMs(0),
            giveUpAt: inMs(600_000),
          },
        }),
      ),
    clear: (orderId: string) => db.transaction().execute((tx) => releaseHold(tx, orderId)),
    /** Pool leases of no run, and runs that stand ready without all of their GPUs. */
    async broken() {
      const { rows } = await sql<{ id: string }>`
        select holder_id as id from gpu_leases l where released_at is null and holder_kind = 'pool'
          and not exists (select from warm_runs where id = l.holder_id and l.gpu_id = any(gpus))
        union all select w.id from warm_runs w where state <> 'ending' and cardinality(gpus) <> (
          select count(*) from gpu_leases where gpu_id = any(w.gpus) and released_at is null
            and (holder_kind, holder_id) in (('pool', w.id), ('order', w.order_id)))`.execute(db);
      return rows;
    },
  };
}

test("an order reserves the warm run of its type and count, and its environment has that id, home and token", async () => {
  const { db, ids, order, pay, run, runs, leases, broken } = await setup({ a: 4 }, [["a1"], ["a2"]]);
  const [first = "", second = ""] = ids;
  await sql`update warm_runs set container_type = 'pytorch' where id = ${second}`.execute(db);
  const ready = await run(first);
  const two = await order({ gpuCount: 2 });
  expect(two.held).toMatchObject({ ok: true, hostId: "a" });
  expect((await leases()).filter(({ holder_kind }) => holder_kind === "order").map(({ gpu_id }) => gpu_id)).toEqual([
    "a3",
    "a4",
  ]);
  const one = await order();
  expect(await run(first)).toMatchObject({ state: "ready", order_id: one.orderId });
  expect(await broken()).toEqual([]);
  expect(await pay(one)).toBe(first);
  const row = await db.selectFrom("environments").selectAll().where("id", "=", first).executeTakeFirstOrThrow();
  expect(row).toMatchObject({
    warm: true,
    generation: 1,
    run_token: ready?.run_token,
    home: ready?.home,
    host_id: "a",
  });
  expect(row.secret).not.toBe(row.run_token);
  expect((await runs()).map(({ id }) => id)).toEqual([second]);
  expect((await leases())[0]).toEqual({ gpu_id: "a1", holder_kind: "environment", holder_id: first });
  expect(await db.selectFrom("homes").select(["home", "user_id"]).execute()).toEqual([
    { home: ready?.home, user_id: one.userId },
  ]);
  expect(await pay(two)).not.toBe(first);
  expect(await broken()).toEqual([]);
});

test("a cleared order returns its warm run, and a lapsed one loses it with its GPUs", async () => {
  const { db, ids, order, pay, clear, run, leases, broken } = await setup({ a: 1 }, [["a1"]]);
  const [id = ""] = ids;
  const early = await order();
  await clear(early.orderId);
  expect(await run(id)).toMatchObject({ state: "ready", order_id: null });
  expect(await leases()).toEqual([{ gpu_id: "a1", holder_kind: "pool", holder_id: id }]);
  const late = await order();
  expect(await run(id)).toMatchObject({ order_id: late.orderId });
  expect((await order()).held).toMatch(/^Not enough GPUs/);
  await sql`update gpu_leases set hold_until = now() - interval '3 minutes' where hold_until is not null`.execute(db);
  const next = await order();
  expect(next.held).toMatchObject({ ok: true });
  expect(await run(id)).toMatchObject({ state: "ending", order_id: null });
  await clear(late.orderId);
  expect(await leases()).toEqual([{ gpu_id: "a1", holder_kind: "order", holder_id: next.orderId }]);
  expect(await pay(next)).not.toBe(id);
  expect(await broken()).toEqual([]);
});

test("GPUs of warm runs count as free: orders of another type and the queue get them, after all other GPUs", async () => {
  const { db, ids, stand, order, run, leases, broken } = await setup({ a: 2, b: 2 }, [["a1"]]);
  const [first = ""] = ids;
  const wide = await stand(["b1", "b2"]);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 2, free: 2 });
  expect((await order({ type: "pytorch" })).held, "the free GPU before one that has to be emptied").toMatchObject({
    hostId: "a",
  });
  expect(await run(first)).toMatchObject({ state: "ready" });
  expect((await order({ type: "pytorch" })).held).toMatchObject({ hostId: "a" });
  expect(await run(first)).toMatchObject({ state: "ending" });
  await enterQueue(db, "ann", 1, async () => {});
  await processQueue(db, writeOnly);
  expect(await run(wide)).toMatchObject({ state: "ending" });
  expect((await leases()).map(({ gpu_id, holder_kind }) => `${gpu_id} ${holder_kind}`)).toEqual([
    "a1 order",
    "a2 order",
    "b1 queue",
  ]);
  expect((await order({ gpuCount: 2 })).held).toMatch(/^Not enough GPUs/);
  expect((await order()).held).toMatchObject({ hostId: "b" });
  expect(await broken()).toEqual([]);
});

test("free GPUs of another host come before the GPUs of warm runs", async () => {
  const { ids, order, run } = await setup({ a: 1, b: 1 }, [["a1"]]);
  expect((await order({ type: "pytorch" })).held).toMatchObject({ hostId: "b" });
  expect(await run(ids[0] ?? "")).toMatchObject({ state: "ready" });
});

test("files of the name, a draining host and a quarantined GPU: no warm run is reserved", async () => {
  const { db, order, runs, stand } = await setup({ a: 5, b: 1 }, [["a1"]]);
  const taken = async () => (await runs()).filter(({ order_id }) => order_id !== null).length;
  await rent(db, { userId: "ann", subdomain: "mine", gpuCount: 2 });
  await sql`update environments set status = 'terminated', terminated_at = now(), created_at = now()`.execute(db);
  await sql`update gpu_leases set released_at = now() where holder_kind <> 'pool'`.execute(db);
  await sql`update subdomain_claims set order_id = null, retained_until = now() + interval '1 day'`.execute(db);
  const { home } = await db.selectFrom("homes").select("home").executeTakeFirstOrThrow();
  await rent(db, { userId: "ann", subdomain: "mine" });
  expect(await taken()).toBe(0);
  expect(await db.selectFrom("environments").select("home").distinct().execute()).toEqual([{ home }]);
  const old = { id: newId(), home: newId(), host_id: "a", user_id: "ann", subdomain: "again" };
  await db.insertInto("homes").values(old).execute();
  expect((await order({ userId: "ann", subdomain: "again" })).held).toMatchObject({ hostId: "a" });
  expect(await taken(), "files that are about to be deleted").toBe(0);
  await sql`update gpus set quarantined_at = now() where id = 'a1'`.execute(db);
  expect((await order()).held).toMatchObject({ hostId: "a" });
  await sql`update hosts set drained_at = now() where id = 'b'`.execute(db);
  await stand(["b1"]);
  expect((await order()).held).toMatchObject({ hostId: "a" });
  expect((await order()).held).toMatch(/^Not enough GPUs/);
  expect(await taken()).toBe(0);
});

test("files that began in a warm run come back with the name", async () => {
  const { db, ids, order, pay, stand, runs } = await setup({ a: 1 }, [["a1"]]);
  const first = await order({ userId: "ann", subdomain: "mine" });
  await pay(first);
  const end = () =>
    sql`update environments set status = 'terminated', terminated_at = now(), created_at = now()`
      .execute(db)
      .then(() => sql`update gpu_leases set released_at = now()`.execute(db))
      .then(() =>
        sql`update subdomain_claims set order_id = null, retained_until = now() + interval '1 day'`.execute(db),
      );
  await end();
  await stand(["a1"]);
  const again = await order({ userId: "ann", subdomain: "mine" });
  expect(await pay(again)).not.toBe(ids[0]);
  expect(await runs(), "the one that stood there makes way").toMatchObject([{ state: "ending" }]);
  expect(await db.selectFrom("environments").select("home").distinct().execute()).toHaveLength(1);
  expect(await db.selectFrom("homes").selectAll().execute()).toHaveLength(1);
});

test("a warm run whose id begins like an environment's is not used, because people quote that beginning", async () => {
  const { db, stand, order, pay, run } = await setup({ a: 2 });
  const there = await rent(db);
  const alike = `${there.slice(0, 8)}${newId().slice(8)}`;
  await stand(["a2"], { id: alike });
  await sql`update gpu_leases set holder_id = ${alike} where gpu_id = 'a2'`.execute(db);
  const asked = await order();
  expect(await run(alike)).toMatchObject({ order_id: asked.orderId });
  expect(await pay(asked)).not.toBe(alike);
  expect(await run(alike)).toMatchObject({ state: "ending", order_id: null });
});

test.each([
  ["one warm run", [["a1"]]],
  ["two warm runs on two hosts", [["a2"], ["b1"]]],
])("of 50 orders of three types for four GPUs, with %s, exactly four win", async (_, warm) => {
  const { db, order, runs, leases, broken } = await setup({ a: 3, b: 1 }, warm);
  // Every connection is open before the race: else the first order is through before the others have one.
  await Promise.all(Array.from({ length: 20 }, () => sql`select pg_sleep(0.2)`.execute(db)));
  const types = ["jupyter", "pytorch", "tensorflow"];
  const all = await Promise.all(Array.from({ length: 50 }, (_each, n) => order({ type: types[n % 3] ?? "" })));
  expect(all.filter(({ held }) => typeof held !== "string")).toHaveLength(4);
  // A machine that is itself short of time may refuse a connection; nothing else goes wrong.
  for (const { held } of all)
    if (typeof held === "string") expect(held).toMatch(/^Not enough GPUs|^timeout exceeded when trying to connect/);
  const held = await leases();
  expect(held.map(({ gpu_id, holder_kind }) => `${gpu_id} ${holder_kind}`)).toEqual(
    ["a1", "a2", "a3", "b1"].map((gpu) => `${gpu} order`),
  );
  expect(new Set(held.map(({ holder_id }) => holder_id)).size).toBe(4);
  for (const { state, order_id } of await runs()) expect(state === "ending").toBe(order_id === null);
  expect(await broken()).toEqual([]);
});

test.each([
  ["is cut off: the other gets it", true],
  ["goes on: the other is refused", false],
])("a reservation at the moment when another needs the GPU %s", async (_, isCut) => {
  const { db, ids, order, run, leases, broken } = await setup({ a: 1 }, [["a1"]]);
  const claimed = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const claiming = order({
    gate: async () => {
      claimed.resolve();
      await end.promise;
      if (isCut) throw new Error("cut off");
    },
  });
  await claimed.promise;
  const other = order({ type: "pytorch" });
  const waiting = () =>
    sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  await expect.poll(async () => (await waiting()).rows.length).toBe(1);
  end.resolve();
  expect((await claiming).held).toEqual(isCut ? "cut off" : expect.objectContaining({ ok: true }));
  expect((await other).held).toEqual(
    isCut ? expect.objectContaining({ ok: true }) : expect.stringMatching(/^Not enough/),
  );
  expect(await run(ids[0] ?? "")).toMatchObject({ state: isCut ? "ending" : "ready" });
  expect(await leases()).toHaveLength(1);
  expect(await broken()).toEqual([]);
});
