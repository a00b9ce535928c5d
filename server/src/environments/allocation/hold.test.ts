import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { addOrder, inMs, rent } from "../testing/setup-environments.ts";
import { setupHolds } from "../testing/setup-holds.ts";
import { extendHold, hold, releaseHold } from "./hold.ts";
import { launch } from "./launch.ts";
import { checkName } from "./name-reservations.ts";

test("C11: of 50 orders for the last GPU one wins, and the refusals say when the next is free", async () => {
  const { db, ask, open } = await setupHolds({ a: 1 });
  // Every connection is open before the race: else the first order is through before the others have one.
  await Promise.all(Array.from({ length: 20 }, () => sql`select pg_sleep(0.2)`.execute(db)));
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask()));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect(await open()).toHaveLength(1);
  for (const answer of answers)
    if (!answer.ok)
      expect(answer).toMatchObject({ code: "out_of_stock", message: expect.stringMatching(/free at \d{4}-/) });
});

test("C10: of two users who want one name at once one wins; a refusal holds nothing", async () => {
  const { ask, open } = await setupHolds({ a: 8 });
  const answers = await Promise.all(["ann", "bob"].map((userId) => ask({ userId, subdomain: "same" })));
  expect(answers.map((answer) => (answer.ok ? "ok" : answer.code)).sort()).toEqual(["ok", "subdomain_taken"]);
  expect(await open()).toHaveLength(1);
});

test("without stock the name stays free", async () => {
  const { db, ask } = await setupHolds({ a: 1 });
  await ask();
  expect(await ask({ subdomain: "wish" })).toMatchObject({ code: "out_of_stock" });
  expect(await checkName(db, "wish", "bob")).toMatchObject({ available: true });
});

test("a repeated hold is one hold; after its release everything is free again", async () => {
  const { db, ask, open } = await setupHolds({ a: 4 });
  const request = { orderId: newId(), subdomain: "mine", gpuCount: 2 };
  await ask(request);
  expect(await ask(request)).toMatchObject({ ok: true });
  expect(await open()).toHaveLength(2);
  expect(await checkName(db, "mine", "ann"), "the user goes on with the order").toEqual({
    available: true,
    message: "Your unpaid order holds this name",
    suggestion: null,
  });
  expect(await checkName(db, "mine", "bob")).toMatchObject({ available: false });
  await db.transaction().execute((tx) => extendHold(tx, request.orderId, inMs(1_800_000)));
  const [lease] = await open();
  expect(lease?.hold_until?.getTime()).toBeGreaterThan(Date.now() + 1_700_000);
  await db.transaction().execute((tx) => releaseHold(tx, request.orderId));
  expect(await open()).toHaveLength(0);
  expect(await checkName(db, "mine", "bob")).toMatchObject({ available: true, message: "" });
});

test("a lapsed hold is taken over, GPUs and name; a running one is not", async () => {
  const { ask, lapse, open } = await setupHolds({ a: 1 });
  await ask({ subdomain: "mine" });
  expect(await ask({ userId: "bob", subdomain: "mine" })).toMatchObject({ code: "subdomain_taken" });
  await lapse(1);
  expect(await ask({ userId: "bob", subdomain: "mine" }), "within the grace").toMatchObject({
    code: "subdomain_taken",
  });
  expect(await ask({ userId: "bob" }), "within the grace").toMatchObject({ code: "out_of_stock" });
  await lapse();
  expect(await ask({ userId: "bob", subdomain: "mine" })).toMatchObject({ ok: true });
  expect(await open()).toHaveLength(1);
});

test("a launched environment keeps its hold when its order is released, and cannot be launched without one", async () => {
  const { db, open, lapse } = await setupHolds({ a: 2 });
  const id = await rent(db, { userId: "ann", subdomain: "mine", gpuCount: 2 });
  await lapse();
  const { order_id } = await db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  await db.transaction().execute((tx) => releaseHold(tx, order_id));
  expect(await open()).toHaveLength(2);
  expect(await checkName(db, "mine", "ann")).toMatchObject({ available: false });
  expect(await checkName(db, "mine", "bob")).toEqual({
    available: false,
    message: "This name is in use",
    suggestion: "mine-2",
  });
  const order = { userId: "ann", subdomain: "other", gpuCount: 1, durationHours: 1 };
  const orderId = await addOrder(db, order);
  const times = { orderedAt: inMs(0), paidAt: inMs(0), giveUpAt: inMs(0), containerType: "jupyter" };
  await expect(db.transaction().execute((tx) => launch(tx, { ...order, ...times, orderId }))).rejects.toThrow(
    "0 of 1 GPUs",
  );
  const { db: more } = await setupHolds({ b: 4 });
  const rental = { userId: "ann", subdomain: "few", gpuCount: 1, durationHours: 1 };
  const few = { ...rental, orderId: await addOrder(more, rental) };
  const fewer = more.transaction().execute(async (tx) => {
    await hold(tx, { ...few, holdUntil: inMs(900_000) });
    return launch(tx, { ...few, ...times, gpuCount: 2 });
  });
  await expect(fewer).rejects.toThrow("1 of 2 GPUs");
});

test("G385 a new name is no address of a port; one from before stays its owner's", async () => {
  const { db, ask } = await setupHolds({ a: 4 });
  const message = "A name that begins with a number and two hyphens is the address of a port";
  for (const subdomain of ["6006--lab", "80--lab"]) {
    expect(await ask({ subdomain })).toEqual({ ok: false, code: "subdomain_taken", message });
    expect(await checkName(db, subdomain, "ann")).toEqual({ available: false, message, suggestion: null });
  }
  expect(await ask({ subdomain: "lab--6006" })).toMatchObject({ ok: true });
  await sql`insert into subdomain_claims (name, user_id, retained_until) values ('6006--lab', 'ann', now() + interval '1 day')`.execute(
    db,
  );
  expect(await ask({ userId: "bob", subdomain: "6006--lab" })).toMatchObject({ ok: false, message });
  expect(await checkName(db, "6006--lab", "ann")).toMatchObject({ available: true });
  expect(await ask({ subdomain: "6006--lab" })).toMatchObject({ ok: true });
});

test("G31: a kept name is free for its owner, on the host of its files, and taken for others until its retention ends", async () => {
  const { db, ask } = await setupHolds({ a: 1, b: 4 });
  const id = await rent(db, { userId: "ann", subdomain: "mine", gpuCount: 2 });
  await sql`update environments set status = 'terminated', terminated_at = now(), created_at = now() where id = ${id}`.execute(
    db,
  );
  await sql`update gpu_leases set released_at = now()`.execute(db);
  await sql`update subdomain_claims set order_id = null, retained_until = now() + interval '1 day'`.execute(db);
  expect(await checkName(db, "mine", "ann")).toMatchObject({
    available: true,
    message: "Your files of this name come back",
  });
  expect(await checkName(db, "mine", "bob")).toMatchObject({ available: false, suggestion: "mine-2" });
  expect(await ask({ userId: "bob", subdomain: "mine" })).toMatchObject({ code: "subdomain_taken" });
  const orderId = newId();
  expect(await ask({ orderId, subdomain: "mine" })).toMatchObject({ ok: true, hostId: "b" });
  await db.transaction().execute((tx) => releaseHold(tx, orderId));
  expect(await ask({ userId: "bob", subdomain: "mine" })).toMatchObject({ code: "subdomain_taken" });
  await sql`update subdomain_claims set retained_until = now()`.execute(db);
  expect(await ask({ userId: "bob", subdomain: "mine" })).toMatchObject({ ok: true });
});

test("two successive owners of one name never see each other's files", async () => {
  const { db } = await setupHolds({ a: 2 });
  for (const userId of ["ann", "bob"]) {
    await rent(db, { userId, subdomain: "mine" });
    await sql`update environments set status = 'terminated', terminated_at = now()`.execute(db);
    await sql`delete from subdomain_claims`.execute(db);
  }
  const homes = await db.selectFrom("environments").select("home").execute();
  expect(new Set(homes.map(({ home }) => home)).size).toBe(2);
});

test("a lapsed hold that another order is taking over does not count as held", async () => {
  const { db, ask, waiting, lapse, open } = await setupHolds({ a: 1 });
  const late = { orderId: newId(), subdomain: "late" };
  await ask(late);
  await lapse();
  const taken = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const thief = db.transaction().execute(async (tx) => {
    const request = { orderId: newId(), userId: "bob", subdomain: "thief", gpuCount: 1, holdUntil: inMs(900_000) };
    const held = await hold(tx, request);
    taken.resolve();
    await end.promise;
    return held;
  });
  await taken.promise;
  const answer = ask(late);
  await expect.poll(waiting).toBe(1);
  end.resolve();
  expect(await thief).toMatchObject({ ok: true });
  expect(await answer).toMatchObject({ ok: false, code: "out_of_stock" });
  expect(await open()).toHaveLength(1);
});

test("extending a lapsed hold locks the name before the GPUs, like the order that takes it over", async () => {
  const { db, ask, waiting, lapse } = await setupHolds({ a: 1 });
  const late = { orderId: newId(), subdomain: "late" };
  await ask(late);
  await lapse();
  const extending = await db.transaction().execute(async (tx) => {
    await sql`select from subdomain_claims where name = 'late' for update`.execute(tx);
    const running = db.transaction().execute((own) => extendHold(own, late.orderId, inMs(900_000)));
    await expect.poll(waiting).toBe(1);
    await sql`update gpu_leases set released_at = now() where holder_id = ${late.orderId}`.execute(tx);
    return { running };
  });
  await extending.running;
});
