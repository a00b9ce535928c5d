import { sql } from "kysely";
import { expect, test } from "vitest";
import { DriverError } from "../../drivers/driver.ts";
import { act } from "../api/environment-actions.ts";
import { applyRetention } from "../homes/apply-retention.ts";
import { setupMoves } from "../testing/setup-moves.ts";

const files = new Map([
  ["a.txt", "words\n"],
  ["data/b.bin", "x".repeat(300_000)],
]);

test("G195 the files of a stopped environment move with its name, are deleted where they were, and it starts on the other host", async () => {
  const { db, driver, other, open, stopped, empty, movePass, moves, movedNotices, read, reach, leases } =
    await setupMoves();
  const { id, home } = await stopped({ subdomain: "lab" });
  const before = await read(id);
  await open();
  await movePass();
  expect(await moves()).toEqual([]);
  await empty();
  await movePass();
  const after = await read(id);
  expect(after).toMatchObject({ host_id: "other", subdomain: "lab", status: "stopped" });
  expect(after.banked_seconds).toBe(before.banked_seconds);
  expect(other.machine.homes.get(after.home)).toEqual(files);
  expect(driver.machine.homes.get(home)).toEqual(files);
  await movePass();
  expect([driver.machine.homes.size, await moves()]).toEqual([0, []]);
  expect(await movedNotices()).toMatchObject([
    { user_id: "user", title: "The files of lab have moved", link: `/environments/${id}` },
  ]);
  await act(db, { id, userId: "user" }, "start");
  await reach(id, "active");
  expect([await leases(id), other.machine.homes.get(after.home)]).toEqual([1, files]);
  expect((await driver.observe(id)).state).toBe("absent");
});

test("G196 meanwhile it is not started, and its owner reads why and how far it is", async () => {
  const { db, other, open, stopped, empty, movePass, moves, moveDeps, read } = await setupMoves();
  const { id } = await stopped({ subdomain: "lab" });
  await open();
  await empty();
  const release = other.hang("restore");
  const moving = movePass();
  await expect.poll(async () => (await moves())[0]?.to_host).toBe("other");
  await db.updateTable("home_moves").set({ total_bytes: 1000, copied_bytes: 426 }).execute();
  const refused = act(db, { id, userId: "user" }, "start");
  await expect(refused).rejects.toMatchObject({
    code: "action_not_allowed",
    message:
      "The files of lab are moving to another machine, 42 % so far. Start it when they are there: its name and address stay",
  });
  expect(await read(id)).toMatchObject({ desired: "stopped", stage: null });
  release();
  await moving;
  await movePass(moveDeps);
  await act(db, { id, userId: "user" }, "start");
});

test("G195 what runs or is paused stays, and follows when it is stopped", async () => {
  const { db, open, rent, reach, want, read, empty, movePass, moves } = await setupMoves();
  const [active, paused] = [await rent(), await rent()];
  for (const id of [active, paused]) await reach(id, "active");
  await want(paused, "paused");
  await reach(paused, "paused");
  await open();
  await empty();
  await movePass();
  expect(await moves()).toEqual([]);
  await want(active, "stopped");
  await movePass();
  expect(await moves()).toEqual([]);
  await reach(active, "stopped");
  await movePass();
  expect([(await read(active)).host_id, (await read(paused)).host_id]).toEqual(["other", "host"]);
  expect(await db.selectFrom("homes").select("host_id").orderBy("host_id").execute()).toMatchObject([
    { host_id: "host" },
    { host_id: "other" },
  ]);
});

test("G196 kept files of an ended environment move too; a launch of its name waits for them and gets them", async () => {
  const { db, other, open, stopped, want, reach, rent, read, empty, movePass } = await setupMoves();
  const { id } = await stopped({ subdomain: "lab" });
  await want(id, "terminated");
  await reach(id, "terminated");
  await open();
  await empty();
  const release = other.hang("restore");
  const moving = movePass();
  await expect.poll(() => db.selectFrom("home_moves").select("to_host").execute()).toEqual([{ to_host: "other" }]);
  await expect(rent({ subdomain: "lab" })).rejects.toThrow(
    "The files of lab are moving to another machine, 0 % so far",
  );
  release();
  await moving;
  await movePass();
  const next = await rent({ subdomain: "lab" });
  await reach(next, "active");
  const { host_id, home } = await read(next);
  expect([host_id, other.machine.homes.get(home)]).toEqual(["other", files]);
});

test("G196 an environment that is terminated while its files move ends as always, and they are kept on the other host", async () => {
  const { db, other, open, stopped, want, reach, read, empty, movePass, movedNotices } = await setupMoves();
  const { id } = await stopped();
  await open();
  await empty();
  const release = other.hang("restore");
  const moving = movePass();
  await expect.poll(() => db.selectFrom("home_moves").select("to_host").execute()).toEqual([{ to_host: "other" }]);
  await want(id, "terminated");
  await reach(id, "terminated");
  release();
  await moving;
  await movePass();
  const { home } = await read(id);
  expect(other.machine.homes.get(home)).toEqual(files);
  expect(await db.selectFrom("homes").selectAll().execute()).toMatchObject([
    { host_id: "other", home, delete_at: expect.any(Date) },
  ]);
  expect(await movedNotices()).toEqual([]);
});

test("G196 files whose owner deletes them while they move are deleted after it, on the host where they are", async () => {
  const { db, deps, driver, other, open, stopped, want, reach, empty, movePass } = await setupMoves();
  const { id } = await stopped();
  await want(id, "terminated");
  await reach(id, "terminated");
  await open();
  await empty();
  const release = other.hang("restore");
  const moving = movePass();
  await expect.poll(() => db.selectFrom("home_moves").select("to_host").execute()).toEqual([{ to_host: "other" }]);
  const past = new Date(Date.now() - 60_000);
  await db.updateTable("homes").set({ delete_at: past, told_at: past }).execute();
  await db.updateTable("subdomain_claims").set({ retained_until: past }).execute();
  await applyRetention({ ...deps, drivers: new Map([...deps.drivers]) });
  expect(await db.selectFrom("homes").selectAll().execute()).toHaveLength(1);
  release();
  await moving;
  await movePass();
  await applyRetention(deps);
  expect(await db.selectFrom("homes").selectAll().execute()).toEqual([]);
  expect([driver.machine.homes.size, other.machine.homes.size]).toEqual([0, 0]);
});

test("G195 a stopped monthly plan gets as many GPUs of the other host, and moves only where they are free", async () => {
  const { db, open, stopped, read, leases, empty, movePass, moves } = await setupMoves();
  const { id } = await stopped({ durationHours: 720, gpuCount: 2 });
  expect(await leases(id)).toBe(2);
  await open(3);
  await empty();
  // All of the other host, as a rental there has them.
  for (const gpu of ["other-slot-1", "other-slot-2", "other-slot-3"])
    await sql`
      insert into gpu_leases (id, gpu_id, holder_kind, holder_id) values (${gpu}, ${gpu}, 'environment', 'somebody')`.execute(
      db,
    );
  await movePass();
  expect(await moves()).toMatchObject([
    { to_host: null, last_error: expect.stringContaining("No other host has room") },
  ]);
  await sql`update gpu_leases set released_at = now() where holder_id = 'somebody'`.execute(db);
  await movePass();
  expect([(await read(id)).host_id, await leases(id)]).toEqual(["other", 2]);
  const held = await db
    .selectFrom("gpu_leases")
    .innerJoin("gpus", "gpus.id", "gpu_leases.gpu_id")
    .select("host_id")
    .where("holder_id", "=", id)
    .where("released_at", "is", null)
    .execute();
  expect(held.map(({ host_id }) => host_id)).toEqual(["other", "other"]);
});

test("G195 a copy with fewer files than there were is not used: nothing is deleted, and the next attempt begins anew", async () => {
  const { other, open, stopped, read, empty, movePass, moves, moveDeps, recorded } = await setupMoves();
  const { id } = await stopped();
  await open();
  await empty();
  const losing = {
    ...other,
    async restore(...args: Parameters<typeof other.restore>) {
      await other.restore(...args);
      other.machine.homes.get(args[0].home)?.delete("a.txt");
    },
  };
  await movePass({ drivers: new Map([...moveDeps.drivers, ["other", losing]]) });
  expect((await read(id)).host_id).toBe("host");
  expect(await moves()).toMatchObject([
    {
      moved_at: null,
      attempts: 1,
      last_error: expect.stringContaining("of 2 entries with 300006 bytes, 1 with 300000 arrived"),
    },
  ]);
  expect(recorded.lines).toContainEqual(expect.objectContaining({ event: "home.move_failed", hostId: "host" }));
  await movePass();
  const { host_id, home } = await read(id);
  expect([host_id, [...other.machine.homes.keys()]]).toEqual(["other", [home]]);
});

test("G111 files that are missing are not moved as an empty folder", async () => {
  const { driver, other, open, stopped, read, empty, movePass, moves } = await setupMoves();
  const { id, home } = await stopped();
  driver.machine.missingHomes.add(home);
  await open();
  await empty();
  await movePass();
  expect([(await read(id)).host_id, other.machine.homes.size]).toEqual(["host", 0]);
  expect(await moves()).toMatchObject([{ last_error: expect.stringContaining("the files are missing") }]);
});

test("G197 a move that is taken back ends its copy, deletes it and leaves the files where they are", async () => {
  const { db, driver, other, open, stopped, read, empty, movePass, moves, moveDeps } = await setupMoves();
  const { id, home } = await stopped();
  await open();
  await empty();
  const slow = {
    ...other,
    async restore({ home: to }: { readonly home: string }, _: unknown, signal: AbortSignal) {
      other.machine.homes.set(to, new Map([["a.txt", "wo"]]));
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(new DriverError("unavailable", "cut"))),
      );
    },
  };
  const moving = movePass({ drivers: new Map([...moveDeps.drivers, ["other", slow]]) });
  await expect.poll(() => other.machine.homes.size).toBe(1);
  await db.updateTable("hosts").set({ moving_since: null }).execute();
  await db.updateTable("home_moves").set({ cancelled_at: new Date() }).execute();
  await moving;
  expect((await moves())[0]).toMatchObject({ attempts: 0, lease_token: null });
  await movePass();
  expect([await moves(), other.machine.homes.size, driver.machine.homes.get(home)]).toEqual([[], 0, files]);
  expect((await read(id)).host_id).toBe("host");
});

test("G203 files that a fresh start left move too when their host is emptied, whatever has their name", async () => {
  const { db, driver, other, stopped, open, empty, movePass, moves } = await setupMoves();
  const { id } = await stopped({ subdomain: "mine" });
  const { user_id } = await db.selectFrom("homes").select("user_id").executeTakeFirstOrThrow();
  const kept = { used_at: new Date(), delete_at: new Date(Date.now() + 86_400_000), left_by: id, left_run: id };
  const row = { id: "f".repeat(25), home: "former", host_id: "host", user_id, subdomain: "mine", ...kept };
  await db.insertInto("homes").values(row).execute();
  driver.machine.homes.set("former", new Map([["old.txt", "former words"]]));
  await open();
  await empty();
  for (let passes = 0; passes < 3; passes++) await movePass();
  expect(await moves()).toEqual([]);
  const former = await db.selectFrom("homes").selectAll().where("id", "=", row.id).executeTakeFirstOrThrow();
  expect(former).toMatchObject({ host_id: "other", left_by: id });
  expect(other.machine.homes.get(former.home)?.get("old.txt")).toBe("former words");
  expect(driver.machine.homes.size).toBe(0);
});
