import type { WaitReason } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { DriverError, type DriverErrorCode } from "../../drivers/driver.ts";
import { environmentOf } from "../environment.ts";
import { type Setup, setupEnvironments } from "../testing/setup-environments.ts";

const room = { for: "room", message: "0/2 nodes are available: 2 Insufficient memory." } as const;

/** Its last moment has come. */
const giveUp = ({ db }: Setup, id: string) =>
  sql`update environments set give_up_at = now(), due_at = now() where id = ${id}`.execute(db);

const noticesOf = ({ db }: Setup) =>
  db.selectFrom("notifications").select(["title", "body"]).where("cause", "like", "restarted:%").execute();

test("G198 a launch that waits says for what, and to the operator in the words of the machine, until it comes through", async () => {
  const { db, rent, read, pass, reach, driver } = await setupEnvironments();
  const id = await rent({ userId: "user" });
  driver.machine.waits.set(id, room);
  for (let passes = 0; passes < 2; passes++) await pass();
  expect(await read(id)).toMatchObject({ status: "pending", waits_for: "room", last_error: room.message });
  expect(await environmentOf(db, id, "user")).toMatchObject({ waits_for: "room" });
  driver.machine.waits.set(id, { for: "volume", message: "no volume" });
  await pass();
  expect(await read(id)).toMatchObject({ waits_for: "volume", last_error: "no volume", attempts: 0 });
  driver.machine.waits.delete(id);
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ waits_for: null, last_error: null, generation: 1 });
});

test("G198 a launch that waits until its deadline is not delivered, and keeps the reason", async () => {
  const setup = await setupEnvironments();
  const { db, rent, read, pass, reach, driver, recorded, leases } = setup;
  const id = await rent({ userId: "user" });
  driver.machine.waits.set(id, room);
  for (let passes = 0; passes < 2; passes++) await pass();
  await giveUp(setup, id);
  await reach(id, "terminated");
  expect(recorded.undelivered).toEqual([`${id}:not_delivered`]);
  expect(await read(id)).toMatchObject({ ended_reason: "not_delivered", waits_for: "room", created_at: null });
  expect(await environmentOf(db, id, "user")).toMatchObject({ waits_for: "room" });
  expect(await leases(id)).toBe(0);
});

test("G198 a later start that waits costs its owner no time, and when it fails that is the machine's fault", async () => {
  const setup = await setupEnvironments();
  const { rent, read, pass, reach, driver } = setup;
  const id = await rent();
  await reach(id, "active");
  await driver.crash(id);
  await reach(id, "pending");
  driver.machine.waits.set(id, room);
  for (let passes = 0; passes < 2; passes++) await pass();
  const waiting = await read(id);
  expect(waiting).toMatchObject({ status: "pending", waits_for: "room" });
  expect(waiting.fault_since).not.toBeNull();
  await giveUp(setup, id);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "hardware" });
});

test.each<[DriverErrorCode, WaitReason | undefined, WaitReason | null]>([
  ["unavailable", undefined, "host"],
  ["unavailable", "room", "room"],
  ["no_image", undefined, "image"],
  ["no_gpu", undefined, "room"],
  ["refused", undefined, null],
])("G198 a start that fails as %s (%s) waits for %s", async (code, waitsFor, expected) => {
  const { rent, read, pass, driver, deps } = await setupEnvironments();
  const id = await rent();
  const start = async () => Promise.reject(new DriverError(code, "not now", { waitsFor }));
  await pass({ drivers: new Map([["host", { ...driver, start }]]) });
  expect(await read(id)).toMatchObject({ status: "pending", waits_for: expected });
  expect(deps.drivers.size).toBe(1);
});

test("G199 an owner is told when a run ended for lack of memory or space, by its machine or with an error; a shutdown is no news", async () => {
  const setup = await setupEnvironments();
  const { rent, read, reach, driver } = setup;
  const id = await rent({ subdomain: "lab" });
  await reach(id, "active");
  const next = async (end: Promise<void>) => {
    await end;
    await reach(id, "pending");
    await reach(id, "active");
  };
  await next(driver.crash(id, { code: 0, outOfMemory: false }));
  expect(await noticesOf(setup)).toEqual([]);
  const hours = new Set([new Date().getUTCHours()]);
  for (let time = 0; time < 2; time++) await next(driver.crash(id, { code: 137, outOfMemory: false }));
  hours.add(new Date().getUTCHours());
  const notices = await noticesOf(setup);
  expect(notices.length, "one an hour").toBeLessThanOrEqual(hours.size);
  const [{ title, body } = {}] = notices;
  expect(title).toBe("lab was started again");
  expect(body).toBe("Its JupyterLab had ended with an error. What was in memory is lost; this touches no file.");
  await setup.db.deleteFrom("notifications").where("cause", "like", "restarted:%").execute();
  const { expires_at } = await read(id);
  await next(driver.crash(id, { code: 137, outOfMemory: true }));
  await next(driver.crash(id, { code: 137, outOfMemory: false, evicted: { cause: "disk", message: "exceeds" } }));
  expect(await read(id)).toMatchObject({ expires_at });
  await next(driver.crash(id, { code: 137, outOfMemory: false, evicted: { cause: "machine", message: "drained" } }));
  expect((await noticesOf(setup)).map(({ title }) => title).sort()).toEqual([
    "lab is started again",
    "lab ran out of memory and was started again",
    "lab ran out of temporary space and was started again",
  ]);
  expect((await read(id)).expires_at?.getTime()).toBeGreaterThan(expires_at?.getTime() ?? 0);
});
