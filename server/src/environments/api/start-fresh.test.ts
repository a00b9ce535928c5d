import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { applyRetention } from "../homes/apply-retention.ts";
import { keptFilesOf } from "../homes/kept-files.ts";
import { markUnreachable, registerHost } from "../hosts/register-host.ts";
import { inventoryOf } from "../reconciler/reconcile-inventory.ts";
import { inMs, setupEnvironments } from "../testing/setup-environments.ts";
import { fetchWarmRuns, stepWarmRun } from "../warm-pool/warm-pool-step.ts";
import { startFresh } from "./start-fresh.ts";

/** An active environment of six hours with one of two GPUs, each on a node of its own; the other may be rented already. */
async function setup({ isOtherTaken = false } = {}) {
  const base = await setupEnvironments({ options: { gpus: 2 } });
  const { db, deps, driver, rent, reach, read } = base;
  await sql`update gpus set node = 'node-of-' || id where kind = 'gpu'`.execute(db);
  const id = await rent({ durationHours: 6, subdomain: "mine" });
  await reach(id, "active");
  if (isOtherTaken) await reach(await rent({ userId: "bob" }), "active");
  const before = await read(id);
  driver.machine.homes.get(before.home)?.set("notes.txt", "words");
  return {
    ...base,
    id,
    before,
    gpusOf: async (holderId: string) =>
      (
        await sql<{ id: string }>`
          select gpu_id as id from gpu_leases where holder_id = ${holderId} and released_at is null order by gpu_id`.execute(
          db,
        )
      ).rows.map((row) => row.id),
    /** Its node gives no sign for an hour. */
    async lose() {
      driver.machine.lostRuns.set(id, { since: inMs(-3_600_000) });
      await base.pass();
    },
    fresh: (userId = "user") => startFresh(db, { id, userId }),
    /** One pass over the runs that are to be ended. */
    async endRuns() {
      await sql`update warm_runs set due_at = now()`.execute(db);
      const rows = await fetchWarmRuns(db, [...deps.drivers.keys()], 10);
      for (const row of rows) await stepWarmRun(deps, row, () => {});
      return (await db.selectFrom("warm_runs").select("id").execute()).length;
    },
    look: () => {
      const host = { id: "host", driver, signal: new AbortController().signal };
      return inventoryOf({ ...deps, clock: { require: async () => {} } }, host)();
    },
    homes: () => db.selectFrom("homes").selectAll().orderBy("used_at").execute(),
  };
}

test("G202 a fresh start: an empty home on another node with the same name and the time left; the former run is never used again", async () => {
  const { id, before, db, driver, lose, fresh, reach, read, gpusOf, endRuns, look, rent, pass } = await setup();
  const [formerGpu] = await gpusOf(id);
  await sql`update environments set expires_at = expires_at - interval '1 hour', created_at = created_at - interval '2 hours'`.execute(
    db,
  );
  const former = driver.machine.runs.get(id);
  await lose();
  await fresh();
  await fresh();
  await reach(id, "active");
  const now = await read(id);
  const same = { subdomain: "mine", order_id: before.order_id, secret: before.secret, generation: 2 };
  expect(now).toMatchObject({ ...same, lost_since: null, fault_since: null, down_since: null });
  // Five hours were left by the clock, and the hour without its machine does not count.
  expect(((now.expires_at?.getTime() ?? 0) - Date.now()) / 3_600_000).toBeCloseTo(6, 1);
  expect(now.home).not.toBe(before.home);
  expect([...(driver.machine.homes.get(now.home)?.keys() ?? [])]).toEqual([]);
  const gpus = await gpusOf(id);
  expect(gpus).toHaveLength(1);
  expect(gpus).not.toContain(formerGpu);

  // The former run may go on where nobody sees it: it is asked to end, and its GPU is free, but starts nothing before that.
  expect(await endRuns()).toBe(1);
  await look();
  expect(driver.machine.runs.get(id)).toBe(former);
  const next = await rent({ userId: "bob" });
  expect(await gpusOf(next)).toEqual([formerGpu]);
  await pass();
  expect(await read(next)).toMatchObject({ status: "pending", run_token: null });

  driver.machine.lostRuns.clear();
  await look();
  await pass();
  expect(driver.machine.runs.get(id)).toBe(former);
  expect(await endRuns()).toBe(0);
  expect(driver.machine.runs.has(id)).toBe(false);
  await reach(next, "active");
  // An inventory of an old run, which nobody may take for an orphan.
  Object.assign(driver.machine.runs.get(now.run_id ?? "") ?? {}, { createdAt: inMs(-3_600_000) });
  await look();
  await pass();
  expect(await read(id)).toMatchObject({ status: "active", generation: 2, run_id: now.run_id });
  expect(driver.machine.runs.get(now.run_id ?? "")?.spec).toMatchObject({ home: now.home, gpus });
});

test("G203 the former files are kept, and have their retention from when their machine is back; they are nobody's current ones", async () => {
  const { id, before, db, deps, driver, want, lose, fresh, reach, endRuns, homes, rent, read } = await setup();
  await lose();
  await fresh();
  await reach(id, "active");
  await applyRetention(deps);
  const kept = () => keptFilesOf(db, "user");
  expect(await kept()).toMatchObject([{ environment_id: id, subdomain: "mine", files_until: null, banked_seconds: 0 }]);
  expect(await homes()).toMatchObject([{ home: before.home, left_by: id, delete_at: null }, { left_by: null }]);

  driver.machine.lostRuns.clear();
  await endRuns();
  await applyRetention(deps);
  await applyRetention(deps);
  const [files] = await kept();
  expect(Math.round((Date.parse(files?.files_until ?? "") - Date.now()) / 86_400_000)).toBe(30);
  const notices = db.selectFrom("notifications").select("title").where("cause", "like", "former:%");
  expect(await notices.execute()).toEqual([{ title: "The former files of mine are there again" }]);

  // They are deleted without touching the current files or the name.
  await sql`update homes set delete_at = now(), told_at = now() where left_by is not null`.execute(db);
  const { home } = await read(id);
  await want(id, "terminated");
  await reach(id, "terminated");
  await applyRetention(deps);
  expect([driver.machine.homes.has(before.home), driver.machine.homes.has(home)]).toEqual([false, true]);
  expect(await kept()).toMatchObject([{ former_id: null, subdomain: "mine" }]);
  const again = await rent({ subdomain: "mine" });
  expect((await read(again)).home).toBe(home);
});

test("a launch of the name never uses the former files, not when the current ones are gone", async () => {
  const { id, before, db, deps, lose, fresh, reach, want, rent, read, driver } = await setup();
  await lose();
  await fresh();
  await reach(id, "active");
  await want(id, "terminated");
  await reach(id, "terminated");
  await sql`update homes set delete_at = now(), told_at = now() where left_by is null`.execute(db);
  await sql`update subdomain_claims set retained_until = now()`.execute(db);
  await applyRetention(deps);
  expect((await db.selectFrom("homes").select("home").execute()).map(({ home }) => home)).toEqual([before.home]);
  const again = await rent({ subdomain: "mine" });
  expect((await read(again)).home).not.toBe(before.home);
  expect(driver.machine.homes.get(before.home)?.get("notes.txt")).toBe("words");
});

test("G202 without a free GPU a fresh start is refused with the next time, and nothing changes", async () => {
  const { id, read, lose, fresh, gpusOf, homes } = await setup({ isOtherTaken: true });
  await lose();
  const state = async () => [{ ...(await read(id)), due_at: null }, await gpusOf(id), await homes()];
  const before = await state();
  const words = /^Not enough GPUs are free right now\. .* UTC\. Nothing has changed$/;
  await expect(fresh()).rejects.toMatchObject({ code: "out_of_stock", message: expect.stringMatching(words) });
  expect(await state()).toEqual(before);
});

test("G202 the lost node itself is never chosen, although it has a free GPU", async () => {
  const { db, lose, fresh, read, id } = await setup();
  await sql`update gpus set node = 'same' where kind = 'gpu'`.execute(db);
  await lose();
  await expect(fresh()).rejects.toMatchObject({ code: "out_of_stock" });
  expect(await read(id)).toMatchObject({ status: "unknown", run_id: null });
});

test("a fresh start is for who has lost the machine, and only for the owner", async () => {
  const { id, db, driver, lose, fresh, read, want, rent } = await setup();
  await expect(fresh()).rejects.toMatchObject({
    code: "action_not_allowed",
    message: "mine is running already and cannot be started afresh now",
  });
  await lose();
  await expect(fresh("bob")).rejects.toMatchObject({ code: "not_found" });
  await want(id, "terminated");
  await expect(fresh()).rejects.toThrow("mine is being ended");
  const launch = await rent();
  await sql`update environments set status = 'unknown', lost_since = now() where id = ${launch}`.execute(db);
  await expect(startFresh(db, { id: launch, userId: "user" })).rejects.toMatchObject({ code: "action_not_allowed" });
  expect((await read(id)).run_id).toBeNull();
  expect(driver.machine.runs.size).toBe(1);
});

test("G202 a machine that does not answer: the environment starts on another host, and its former run ends when the first is back", async () => {
  const { id, db, deps, driver, pass, fresh, reach, read, endRuns, gpusOf } = await setup();
  const other = fakeDriver({ gpus: 1 });
  onTestFinished(() => other.close());
  await registerHost(db, "other", other, 0);
  Object.assign(deps, { drivers: new Map([...deps.drivers, ["other", other]]) });
  driver.failNext("observe", "unavailable", 5);
  for (let passes = 0; passes < 5; passes++) await pass();
  expect((await read(id)).status).toBe("unknown");
  // One failed look at a host is no reason: it may be back in a moment.
  await expect(fresh()).rejects.toMatchObject({ code: "action_not_allowed" });
  await markUnreachable(db, "host");
  await fresh();
  await reach(id, "active");
  const now = await read(id);
  expect([now.host_id, await gpusOf(id)]).toEqual(["other", [[...other.machine.runs.values()][0]?.spec.gpus].flat()]);
  expect(driver.machine.runs.has(id)).toBe(true);
  driver.failNext("remove");
  expect(await endRuns()).toBe(1);
  expect(await endRuns()).toBe(0);
  expect([driver.machine.runs.size, other.machine.runs.has(now.run_id ?? "")]).toEqual([0, true]);
});
