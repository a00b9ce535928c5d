import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { hold } from "../allocation/hold.ts";
import { readCapacity } from "../leases/read-capacity.ts";
import { enterQueue } from "../queue/join-queue.ts";
import { inMs, type Setup, setupEnvironments } from "../testing/setup-environments.ts";
import { type InventoryDeps, inventoryOf, startInventory } from "./reconcile-inventory.ts";

/** The looks at the one host of a test, one for each call. */
function lookAt({ deps, driver }: Setup, changed: Partial<InventoryDeps> = {}) {
  const clock = { require: async () => {} };
  return inventoryOf({ ...deps, clock, ...changed }, { id: "host", driver, signal: new AbortController().signal });
}

const freeOf = async ({ db }: Setup) => (await readCapacity(db, defaultCatalogue)).free;

test("a host that fails twice is reported once and leases nothing until it responds, not to a reservation either", async () => {
  const setup = await setupEnvironments({ slots: 2 });
  const { db, driver, rent, reach, want, read } = setup;
  const stopped = await rent();
  await reach(stopped, "active");
  await want(stopped, "stopped");
  await reach(stopped, "stopped");
  const ask = (subdomain: string, userId = "bob") =>
    db
      .transaction()
      .execute((tx) => hold(tx, { orderId: "o", userId, subdomain, gpuCount: 1, holdUntil: inMs(900_000) }));
  const refused = (words: string) => ({ ok: false, code: "out_of_stock", message: expect.stringContaining(words) });
  const before = await freeOf(setup);
  expect(before).toBeGreaterThan(0);

  const look = lookAt(setup);
  driver.failNext("list", "unavailable", 3);
  expect(await look(), "one look may be chance: the next comes soon").toBeLessThan(10_000);
  expect(await freeOf(setup)).toBe(before);
  await expect(look()).rejects.toMatchObject({ code: "unavailable" });
  expect(await look()).toBeGreaterThan(10_000);
  expect(await freeOf(setup)).toBe(0);
  expect(await ask("new-one")).toMatchObject(refused("A machine does not answer right now"));
  const row = await read(stopped);
  expect(await ask(row.subdomain, row.user_id)).toMatchObject({ ok: false });
  await expect(enterQueue(db, "cat", 1, async () => {})).rejects.toThrow("A machine does not answer right now");

  await look();
  expect(await freeOf(setup)).toBe(before);
  expect(await ask("new-one")).toMatchObject({ ok: true, hostId: "host" });
  driver.failNext("list");
  expect(await look(), "its misses are counted anew").toBeLessThan(10_000);
});

test("while the clock is unsure no run is removed, but hosts still become unreachable and reachable", async () => {
  const setup = await setupEnvironments();
  const { db, driver, rent, reach } = setup;
  const id = await rent();
  await reach(id, "active");
  await sql`update environments set status = 'terminated', desired = 'terminated', terminated_at = now() where id = ${id}`.execute(
    db,
  );
  let doubted = true;
  const require = async () => {
    if (doubted) throw new Error("The wall clock moved");
  };
  const look = lookAt(setup, { clock: { require } });
  driver.failNext("list", "unavailable", 2);
  await look();
  await expect(look()).rejects.toMatchObject({ code: "unavailable" });
  expect(await freeOf(setup)).toBe(0);
  await expect(look()).rejects.toThrow("The wall clock moved");
  expect(await freeOf(setup)).toBeGreaterThan(0);
  expect(await driver.list()).toHaveLength(1);
  doubted = false;
  await look();
  expect(await driver.list()).toEqual([]);
});

test("a host that needs a check stays unreachable until it passes, each time it was unreachable", async () => {
  const setup = await setupEnvironments();
  let [isFit, asked] = [false, 0];
  const repeat = () => {
    asked += 1;
  };
  const check = { isPassed: () => isFit, repeat };
  const look = lookAt(setup, { checks: new Map([["host", check]]) });
  setup.driver.failNext("list", "unavailable", 3);
  await look();
  expect(asked).toBe(0);
  await expect(look()).rejects.toMatchObject({ code: "unavailable" });
  await look();
  expect(asked).toBe(1);
  await look();
  expect(await freeOf(setup)).toBe(0);
  isFit = true;
  await look();
  expect(await freeOf(setup)).toBeGreaterThan(0);
});

test("only a run that is not as its row says is looked at again", async () => {
  const setup = await setupEnvironments();
  const { db, driver, rent, reach, read, want } = setup;
  const [same, crashed, elsewhere, paused] = [await rent(), await rent(), await rent(), await rent()];
  for (const id of [same, crashed, elsewhere, paused]) await reach(id, "active");
  await want(paused, "paused");
  await reach(paused, "paused");
  const later = new Date(Date.now() + 3_600_000);
  await db.updateTable("environments").set({ due_at: later }).execute();
  const dueAmong = async () => {
    const due = [];
    for (const id of [same, crashed, elsewhere, paused]) if (((await read(id)).due_at ?? later) < later) due.push(id);
    return due;
  };
  await lookAt(setup)();
  expect(await dueAmong()).toEqual([]);
  await driver.crash(crashed);
  const endpoint = JSON.stringify({ host: "127.0.0.1", port: 1 });
  await db.updateTable("environments").set({ endpoint }).where("id", "=", elsewhere).execute();
  await lookAt(setup)();
  expect(await dueAmong()).toEqual([crashed, elsewhere]);
  await db.updateTable("environments").set({ due_at: later }).execute();
  await driver.start(driver.machine.runs.get(paused)?.spec ?? expect.fail("it is gone"));
  await lookAt(setup)();
  expect(await dueAmong()).toEqual([crashed, elsewhere, paused]);
});

test("a host that hangs does not delay the inventory of another", async () => {
  const { deps, driver } = await setupEnvironments();
  const far = fakeDriver();
  const release = far.hang("list");
  const drivers = new Map([
    ["far", far],
    ["host", driver],
  ]);
  const loop = startInventory({ ...deps, clock: { require: async () => {} }, drivers });
  onTestFinished(async () => {
    release();
    await loop.stop();
    await far.close();
  });
  for (const looks of [1, 2, 3]) {
    await expect.poll(() => driver.calls.get("list")).toBe(looks);
    loop.trigger();
  }
  expect(far.calls.get("list")).toBe(1);
});

test("a launch on an unreachable host is refunded, and its run is removed when the host is back; a delivered one waits", async () => {
  const setup = await setupEnvironments();
  const { db, driver, recorded, rent, reach, want, read, pass, leases } = setup;
  const delivered = await rent();
  await reach(delivered, "active");
  const launched = await rent();
  await pass({ isReady: async () => false });
  expect(await driver.list()).toHaveLength(2);
  await want(delivered, "terminated");
  await sql`update environments set give_up_at = now() - interval '1 second' where id = ${launched}`.execute(db);
  driver.failNext("observe", "unavailable", 12);
  for (let passes = 0; passes < 5; passes++) await pass();
  expect(recorded.undelivered).toEqual([]);
  await pass();
  expect(recorded.undelivered).toEqual([`${launched}:not_delivered`]);
  expect([(await read(launched)).status, await leases(launched)]).toEqual(["terminated", 0]);
  expect((await read(delivered)).status).toBe("unknown");
  expect(await driver.list()).toHaveLength(2);
  await lookAt(setup)();
  expect((await driver.list()).map(({ id }) => id)).toEqual([delivered]);
});
