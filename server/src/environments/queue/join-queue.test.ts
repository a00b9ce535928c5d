import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import { type HoldRequest, hold, releaseHold } from "../allocation/hold.ts";
import { leaseGpus, releaseLeases } from "../leases/gpu-leases.ts";
import { readCapacity } from "../leases/read-capacity.ts";
import { addHosts, addOrder, inMs, writeOnly } from "../testing/setup-environments.ts";
import { expectedTimes } from "./expected-times.ts";
import { enterQueue, exitQueue, queuePositionOf } from "./join-queue.ts";
import { processQueue } from "./process-queue.ts";

/** Hosts with so many GPUs each; who has some, who asks, who waits. */
async function setup(hosts: Record<string, number>) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await addHosts(db, hosts);
  const turnsOf = async (userId: string) => {
    const { rows } = await sql<{ gpu_id: string }>`
      select gpu_id from gpu_leases l join queue_entries q on q.id = l.holder_id
      where l.holder_kind = 'queue' and l.released_at is null and q.user_id = ${userId} order by gpu_id`.execute(db);
    return rows.map(({ gpu_id }) => gpu_id);
  };
  return {
    db,
    turnsOf,
    /** GPUs in use until `hours` from now; the answer frees them. */
    async use(gpuCount: number, hours = 1, hostId?: string) {
      const place = hostId === undefined ? null : { hostId, node: null };
      const id = newId();
      const holder = { holderKind: "order", holderId: id } as const;
      const holdUntil = inMs(hours * 3_600_000);
      const on = await db.transaction().execute((tx) => leaseGpus(tx, { ...holder, gpuCount, place, holdUntil }));
      if (!on) throw new Error("nothing is free");
      return () => db.transaction().execute((tx) => releaseLeases(tx, "order", id));
    },
    /** As create_order does: a refusal takes everything back. */
    async order(userId: string, gpuCount: number, request: Partial<HoldRequest> = {}) {
      const subdomain = `n${newId()}`;
      const orderId = await addOrder(db, { userId, subdomain, gpuCount, durationHours: 1 });
      const held = { orderId, userId, subdomain, gpuCount, holdUntil: inMs(900_000), ...request };
      return await db
        .transaction()
        .execute(async (tx) => {
          const answer = await hold(tx, held);
          if (!answer.ok) throw new Error(answer.message);
          return { orderId, hostId: answer.hostId };
        })
        .catch((error: Error) => error.message);
    },
    unpaid: (orderId: string) => db.transaction().execute((tx) => releaseHold(tx, orderId)),
    wait: (userId: string, gpuCount: number) => enterQueue(db, userId, gpuCount, async () => {}),
    goAway: (userId: string) => db.transaction().execute((tx) => exitQueue(tx, userId)),
    move: () => processQueue(db, writeOnly),
    place: (userId: string) => queuePositionOf(db, userId),
    /** All who are in line have waited, or had their turn, for so long. */
    pass: (minutes: number) =>
      sql`update queue_entries set asked_at = asked_at - make_interval(mins => ${minutes}), held_until = held_until - make_interval(mins => ${minutes})`.execute(
        db,
      ),
    recorded: () => db.selectFrom("notifications").select(["user_id", "title", "link"]).orderBy("created_at").execute(),
  };
}

test("the queue is first come, first served: a position, the expected time, a reservation that is notified once", async () => {
  const { use, wait, move, place, recorded, turnsOf } = await setup({ a: 4 });
  const free = await use(2, 1);
  await use(2, 3);
  await wait("ann", 2);
  await wait("bob", 1);
  await wait("cat", 4);
  const places = await Promise.all(["ann", "bob", "cat", "dan"].map(place));
  expect(places.map((each) => each && [each.state, each.position])).toEqual([
    ["waiting", 1],
    ["waiting", 2],
    ["waiting", 3],
    null,
  ]);
  const hours = (at: string | null | undefined) => at && Math.round((Date.parse(at) - Date.now()) / 3_600_000);
  // Two come free after an hour, the others after three; how long who gets them will stay is not known.
  expect(places.slice(0, 3).map((each) => hours(each?.expected_at))).toEqual([1, 3, null]);
  await move();
  expect(await recorded()).toEqual([]);
  await free();
  await move();
  const first = await place("ann");
  await move();
  expect(await place("ann")).toEqual(first);
  expect(await turnsOf("ann")).toHaveLength(2);
  expect(await place("ann")).toMatchObject({ state: "held", position: 0, expected_at: null });
  expect(Math.round((Date.parse((await place("ann"))?.held_until ?? "") - Date.now()) / 60_000)).toBe(10);
  expect(await place("bob")).toMatchObject({ state: "waiting", position: 1 });
  expect(await recorded()).toEqual([
    { user_id: "ann", title: "2 GPUs are held for you for 10 minutes", link: "/environments/create?step=2&gpus=2" },
  ]);
});

test("one entry for each user: the same count keeps it, another one joins at the end, and leaving frees a reservation", async () => {
  const { use, wait, goAway, place, turnsOf, move } = await setup({ a: 2 });
  const free = await use(2);
  await Promise.all([wait("ann", 1), wait("ann", 1), wait("ann", 1)]);
  await wait("bob", 1);
  await wait("ann", 1);
  expect((await place("ann"))?.position).toBe(1);
  await wait("ann", 2);
  expect([(await place("bob"))?.position, (await place("ann"))?.position]).toEqual([1, 2]);
  await expect(wait("cat", 4)).rejects.toThrow("No machine has 4 GPUs");
  await free();
  await move();
  expect([(await place("bob"))?.state, (await place("ann"))?.state]).toEqual(["held", "waiting"]);
  await goAway("bob");
  await goAway("bob");
  expect([await place("bob"), await turnsOf("bob")]).toEqual([null, []]);
  await move();
  expect((await place("ann"))?.state).toBe("held");
});

test("with enough free GPUs the reservation comes at once", async () => {
  const { wait, turnsOf } = await setup({ a: 2 });
  await wait("ann", 2);
  expect(await turnsOf("ann")).toEqual(["a1", "a2"]);
});

test("freed GPUs are not leased past the queue, even before the queue is processed", async () => {
  const { use, wait, order, turnsOf, move } = await setup({ a: 3 });
  const free = await use(3);
  await wait("ann", 2);
  await free();
  expect(await order("dan", 2)).toMatch(/^Not enough GPUs are free right now/);
  expect(await order("dan", 1)).toMatchObject({ hostId: "a" });
  expect(await turnsOf("ann")).toHaveLength(2);
  await move();
  expect(await order("eve", 1)).toMatch(/^Not enough/);
});

test("a reservation goes to the order and its rest is freed; an unpaid order returns it while it lasts", async () => {
  const { db, use, wait, move, order, unpaid, place, turnsOf, pass } = await setup({ a: 4 });
  const free = await use(4);
  await wait("ann", 4);
  await free();
  await move();
  expect(await order("bob", 1)).toMatch(/^Not enough/);
  const first = await order("ann", 2);
  if (typeof first === "string") throw new Error(first);
  expect([await place("ann"), await turnsOf("ann")]).toEqual([null, []]);
  expect(await order("bob", 2)).toMatchObject({ hostId: "a" });
  await unpaid(first.orderId);
  expect(await place("ann")).toMatchObject({ state: "held", gpu_count: 2 });
  expect(await turnsOf("ann")).toHaveLength(2);
  const second = await order("ann", 2);
  if (typeof second === "string") throw new Error(second);
  await pass(11);
  await unpaid(second.orderId);
  expect([await place("ann"), await turnsOf("ann")]).toEqual([null, []]);
  const { rows } = await sql`select 1 from gpu_leases where released_at is null and holder_kind = 'queue'`.execute(db);
  expect(rows).toEqual([]);
});

test("a user who gets as many GPUs without a reservation leaves the queue", async () => {
  const { use, wait, order, move, place, turnsOf } = await setup({ a: 3 });
  const free = await use(3);
  await wait("ann", 1);
  await free();
  await move();
  expect(await order("ann", 2)).toMatchObject({ hostId: "a" });
  expect([await place("ann"), await turnsOf("ann")]).toEqual([null, []]);
  expect(await order("bob", 1)).toMatchObject({ hostId: "a" });
});

test("an unused reservation goes to the next user; one whose notice is pending does not lapse", async () => {
  const { use, wait, order, move, place, pass, turnsOf, recorded } = await setup({ a: 2 });
  const free = await use(2);
  await wait("ann", 1);
  await free();
  // An order gave it, on its own way, and then the server was away for an hour.
  expect(await order("dan", 1)).toMatchObject({ hostId: "a" });
  await pass(60);
  await wait("bob", 1);
  await move();
  expect(await place("ann")).toMatchObject({ state: "held" });
  expect(Date.parse((await place("ann"))?.held_until ?? "")).toBeGreaterThan(Date.now() + 540_000);
  await pass(11);
  await move();
  expect(await place("ann")).toMatchObject({ state: "lapsed", held_until: null });
  expect([await turnsOf("ann"), (await turnsOf("bob")).length]).toEqual([[], 1]);
  await move();
  const turn = { title: "1 GPU is held for you for 10 minutes", link: "/environments/create?step=2&gpus=1" };
  expect(await recorded(), "each once").toEqual([
    { user_id: "ann", ...turn },
    { user_id: "bob", ...turn },
    { ...turn, user_id: "ann", title: "Your turn has passed" },
  ]);
  await wait("ann", 1);
  expect(await place("ann")).toMatchObject({ state: "waiting", position: 1 });
  await pass(11);
  await move();
  expect(await order("ann", 1)).toMatchObject({ hostId: "a" });
  expect(await place("ann")).toBe(null);
});

test("small requests pass a big one until a host is reserved for it, which idles no longer than it waited", async () => {
  const { db, use, wait, move, order, pass, place, turnsOf } = await setup({ a: 4 });
  const [free, last] = [await use(1, 10), await use(2, 1)];
  await use(1, 2);
  await wait("big", 4);
  await wait("small", 1);
  await free();
  await move();
  expect(await turnsOf("small")).toHaveLength(1);
  expect(await order("small", 1)).toMatchObject({ hostId: "a" });

  // All four are free in two hours by what is known, and they have waited for 90 minutes, then for more than two hours.
  await sql`update gpu_leases set hold_until = least(hold_until, now() + interval '118 minutes')`.execute(db);
  await pass(90);
  await wait("other", 1);
  await last();
  await move();
  expect(await turnsOf("other")).toHaveLength(1);
  await pass(-90);
  await pass(150);
  await move();
  expect(await order("dan", 1)).toBe("Not enough GPUs are free right now. The next are for who has waited longest");
  await wait("late", 1);
  expect([await turnsOf("late"), await turnsOf("big")]).toEqual([[], []]);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({
    total: 4,
    free: 0,
    counts: [{ free: false, next_free_at: null }, {}, {}, {}, {}],
  });
  // Whoever waits for it may take less; nobody else gets anything, until the place is given up.
  await sql`delete from queue_entries where user_id = 'big'`.execute(db);
  await move();
  expect(await place("late")).toMatchObject({ state: "held" });
});

test("only one of several hosts is reserved, and the others go on", async () => {
  const { use, wait, move, order, pass } = await setup({ a: 2, b: 2 });
  const frees = [await use(1, 1, "a"), await use(1, 1, "a"), await use(1, 9, "b"), await use(1, 9, "b")];
  await wait("big", 2);
  await pass(120);
  await frees[0]?.();
  await frees[2]?.();
  await move();
  expect(await order("dan", 1)).toMatchObject({ hostId: "b" });
  expect(await order("eve", 1)).toMatch(/^Not enough/);
  await frees[1]?.();
  expect(await order("big", 2)).toMatchObject({ hostId: "a" });
});

test("the queue goes on beside a reserved host, and a later entry gets no host of its own", async () => {
  const { db, use, wait, move, order, pass, turnsOf } = await setup({ a: 3, b: 3 });
  const frees = [await use(1, 1, "a"), await use(2, 1, "a"), await use(2, 1, "b"), await use(1, 1, "b")];
  await wait("big", 3);
  await wait("mid", 2);
  await wait("small", 1);
  await pass(120);
  await frees[0]?.();
  await frees[3]?.();
  await move();
  expect(await turnsOf("small")).toEqual([expect.stringMatching(/^b/)]);
  const kept = db.selectFrom("queue_entries").select(["user_id", "kept_host_id"]).where("kept_host_id", "is not", null);
  expect(await kept.execute()).toEqual([{ user_id: "big", kept_host_id: "a" }]);
  await frees[2]?.();
  expect(await order("dan", 3)).toMatch(/^Not enough/);
  await move();
  expect(await turnsOf("mid")).toEqual([expect.stringMatching(/^b/), expect.stringMatching(/^b/)]);
});

test("of forty users who order or join for four GPUs at once nobody gets one twice, and none stays free beside the queue", async () => {
  const { db, use, wait, order, move } = await setup({ a: 2, b: 2 });
  const free = [await use(2), await use(2)];
  for (const user of ["q1", "q2", "q3"]) await wait(user, 1);
  await Promise.all([
    ...free.map((each) => each()),
    ...Array.from({ length: 30 }, (_, n) => order(`user-${n}`, 1)),
    ...Array.from({ length: 10 }, (_, n) => wait(`late-${n}`, 1)),
    move(),
  ]);
  await move();
  const { rows } = await sql<{ holder_kind: string }>`
    select holder_kind from gpu_leases where released_at is null`.execute(db);
  expect(rows).toHaveLength(4);
  const waited = await sql<{ status: string }>`
    select status from queue_entries where user_id like 'q_' order by place`.execute(db);
  expect(waited.rows.map(({ status }) => status)).toEqual(["held", "held", "held"]);
});

test("the expected time is that of the host with enough GPUs soonest, and unknown once all known GPUs are used", () => {
  const at = (hour: number) => new Date(hour * 3_600_000);
  const slots = [
    { machine: "a", freeAt: at(1) },
    { machine: "b", freeAt: at(2) },
    { machine: "b", freeAt: at(3) },
    { machine: "a", freeAt: at(5) },
  ];
  expect(expectedTimes(slots, [2, 1, 1, 1])).toEqual([at(3), at(1), at(5), undefined]);
  expect(expectedTimes(slots, [4])).toEqual([undefined]);
});
