import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { DriverError } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../hosts/register-host.ts";
import { startPreparingImages } from "../hosts/start-preparing-images.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";

const pollOptions = { timeout: 15_000, interval: 20 };

const types = defaultCatalogue.types.map(({ id }) => id);

test("the loop is notified of a new environment and starts it", async () => {
  const { start, rent, read } = await setupEnvironments({ options: { startMs: 30, answerMs: 30 } });
  start();
  const id = await rent();
  await expect.poll(async () => (await read(id)).status, pollOptions).toBe("active");
});

test("a slow environment does not delay the others", async () => {
  const { start, rent, read, deps, db } = await setupEnvironments();
  await rent({ subdomain: "slow" });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let first = true;
  const answers: typeof deps.isReady = async (...asked) => {
    if (!first) return await deps.isReady(...asked);
    first = false;
    return await promise;
  };
  start({ isReady: answers });
  await expect.poll(() => first, pollOptions).toBe(false);
  const id = await rent();
  await expect.poll(async () => (await read(id)).status, pollOptions).toBe("active");
  const slow = await db.selectFrom("environments").where("subdomain", "=", "slow").select("status").executeTakeFirst();
  expect(slow?.status).toBe("pending");
  resolve(true);
});

test("two loops on one database: every environment is started once and delivered once", async () => {
  const { start, rent, db, driver, recorded } = await setupEnvironments({
    slots: 30,
    options: { startMs: 20, answerMs: 20 },
  });
  start();
  start();
  const ids = await Promise.all(Array.from({ length: 24 }, (_, index) => rent({ userId: `user-${index}` })));
  const active = () => db.selectFrom("environments").where("status", "=", "active").select("id").execute();
  await expect.poll(async () => (await active()).length, pollOptions).toBe(24);
  expect([...recorded.delivered].sort()).toEqual([...ids].sort());
  expect(driver.machine.runs.size).toBe(24);
  expect(await db.selectFrom("sessions").selectAll().execute()).toHaveLength(24);
  const generations = await db.selectFrom("environments").select("generation").distinct().execute();
  expect(generations).toEqual([{ generation: 1 }]);
});

test("a crashed container is detected by the driver's events, long before its row is due", async () => {
  const { start, rent, read, driver } = await setupEnvironments();
  start();
  const id = await rent();
  await expect.poll(async () => (await read(id)).status, pollOptions).toBe("active");
  await driver.crash(id);
  await expect.poll(async () => (await read(id)).generation, pollOptions).toBe(2);
  await expect.poll(async () => (await read(id)).status, pollOptions).toBe("active");
});

test("an environment ends at its expiry, not at the next poll", async () => {
  const { start, rent, read, db } = await setupEnvironments();
  const loop = start();
  const id = await rent();
  await expect.poll(async () => (await read(id)).status, pollOptions).toBe("active");
  await sql`update environments set expires_at = now() + interval '700 milliseconds', due_at = now() where id = ${id}`.execute(
    db,
  );
  loop.trigger();
  await expect.poll(async () => (await read(id)).status, pollOptions).toBe("terminated");
  const { rows } = await sql<{ late: number }>`
    select extract(epoch from terminated_at - expires_at)::float8 as late from environments`.execute(db);
  expect(rows[0]?.late).toBeGreaterThanOrEqual(0);
  expect(rows[0]?.late).toBeLessThan(5);
});

test("the inventory removes orphans of ended and unknown environments, keeps young ones, and restarts a lost run", async () => {
  const { start, rent, read, reach, driver, db } = await setupEnvironments();
  const kept = await rent();
  const lost = await rent({ userId: "other" });
  const ended = await rent({ userId: "third" });
  for (const id of [kept, lost, ended]) await reach(id, "active");
  await sql`update environments set status = 'terminated', desired = 'terminated', terminated_at = now() where id = ${ended}`.execute(
    db,
  );
  const spec = {
    generation: 1,
    image: "jupyter",
    token: "t",
    home: "h",
    gpus: [],
    limits: { cpus: 1, memoryMb: 1, shmMb: 1, pids: 1, diskGb: 1 },
  };
  await driver.start({ ...spec, id: "young" });
  await driver.start({ ...spec, id: "old" });
  const old = driver.machine.runs.get("old");
  if (old) driver.machine.runs.set("old", { ...old, createdAt: new Date(Date.now() - 11 * 60_000) });
  await driver.remove(lost);
  await sql`update environments set due_at = now() + interval '1 hour' where status <> 'terminated'`.execute(db);
  const { createdAt } = { createdAt: new Date(0), ...(await driver.observe(kept)) };
  start();
  await expect.poll(async () => (await read(lost)).generation, pollOptions).toBe(2);
  await expect
    .poll(async () => (await driver.list()).map(({ id }) => id).sort(), pollOptions)
    .toEqual([kept, lost, "young"].sort());
  expect(await read(kept)).toMatchObject({ status: "active", generation: 1 });
  expect(await driver.observe(kept)).toMatchObject({ createdAt });
});

test("a host offers its GPUs, or CPU slots without any; units that are gone are quarantined", async () => {
  const { db, driver } = await setupEnvironments({ slots: 3 });
  const offered = () =>
    db.selectFrom("gpus").where("quarantined_at", "is", null).orderBy("id").select(["id", "kind"]).execute();
  expect(await offered()).toEqual([1, 2, 3].map((n) => ({ id: `host-slot-${n}`, kind: "cpu" })));
  await registerHost(db, "host", driver, 2);
  expect(await offered()).toHaveLength(2);
  const gpu = { id: "GPU-1", model: "RTX 4070", memoryMb: 12_282 };
  const capabilities = async () => ({ ...(await driver.capabilities()), gpus: [gpu] });
  await registerHost(db, "host", { ...driver, capabilities }, 2);
  expect(await offered()).toEqual([{ id: "GPU-1", kind: "gpu" }]);
});

test("an unreachable host with many due rows does not delay the others", async () => {
  const { start, rent, read, db, driver } = await setupEnvironments({ slots: 40 });
  const far = fakeDriver();
  const release = far.hang("observe");
  onTestFinished(async () => {
    release();
    await far.close();
  });
  await registerHost(db, "far", far, 40);
  for (let at = 0; at < 30; at++) await rent({ userId: `user-${at}`, subdomain: `far-${at}` });
  await sql`update environments set host_id = 'far', due_at = now() - interval '1 minute'`.execute(db);
  const id = await rent();
  await sql`update environments set host_id = 'host' where id = ${id}`.execute(db);
  const drivers = new Map([
    ["far", far],
    ["host", driver],
  ]);
  start({ drivers });
  await expect.poll(() => far.calls.get("observe"), pollOptions).toBeGreaterThan(0);
  await expect.poll(async () => (await read(id)).status, { timeout: 8000, interval: 20 }).toBe("active");
  expect(far.calls.get("observe")).toBe(10);
});

test("a slow image and an unreachable host do not delay another host's images; failures are logged", async () => {
  const { db, driver, deps, recorded } = await setupEnvironments();
  const far = fakeDriver();
  await registerHost(db, "far", far, 1);
  const release = far.hang("prepare");
  const drivers = new Map([
    ["far", far],
    ["host", driver],
  ]);
  driver.failNext("prepare", "unavailable", 6);
  const began = performance.now();
  const loop = startPreparingImages({ ...deps, types, drivers });
  onTestFinished(async () => {
    await loop.stop();
    release();
    await far.close();
  });
  const states = async () =>
    (await db.selectFrom("host_images").where("host_id", "=", "host").select("state").execute()).map(
      (row) => row.state,
    );
  await expect.poll(states, pollOptions).toEqual(["ready", "ready", "ready"]);
  // Two rounds failed: a second after the first, two after the second.
  expect(performance.now() - began).toBeGreaterThan(2900);
  expect(recorded.lines).toMatchObject(Array(6).fill({ event: "image.not_prepared", hostId: "host" }));
  expect(far.calls.get("prepare")).toBe(1);
});

test("images are prepared one after the other, with percent, and with the reason for one that is unavailable", async () => {
  const { db, driver, deps } = await setupEnvironments();
  const percents: (number | null)[] = [];
  const read = () => db.selectFrom("host_images").orderBy("container_type").selectAll().execute();
  const prepare: typeof driver.prepare = async (image, progress) => {
    progress?.(40);
    await expect.poll(async () => (await read()).find((row) => row.container_type === image)?.percent).toBe(40);
    percents.push(40);
    if (image === "pytorch") driver.failNext("prepare", "no_image");
    await driver.prepare(image, progress);
  };
  const loop = startPreparingImages({ ...deps, types, drivers: new Map([["host", { ...driver, prepare }]]) });
  await expect
    .poll(async () => (await read()).map(({ container_type, state }) => `${container_type} ${state}`), pollOptions)
    .toEqual(["jupyter ready", "pytorch unavailable", "tensorflow ready"]);
  await loop.stop();
  expect(percents).toEqual([40, 40, 40]);
  expect((await read())[1]?.message).toContain("prepare");
});

test("without an engine a type that is not prepared is unavailable at once, while another one is being prepared", async () => {
  const { db, driver, deps } = await setupEnvironments();
  const { promise, resolve } = Promise.withResolvers<void>();
  const prepare: typeof driver.prepare = async (image) => {
    if (image === "jupyter") return promise;
    throw new DriverError("no_image", "Not prepared on this machine");
  };
  const drivers = new Map([["host", { ...driver, kind: "process" as const, prepare }]]);
  const loop = startPreparingImages({ ...deps, types, drivers });
  onTestFinished(async () => {
    resolve();
    await loop.stop();
  });
  const read = () => db.selectFrom("host_images").orderBy("container_type").selectAll().execute();
  await expect
    .poll(async () => (await read()).map(({ container_type, state }) => `${container_type} ${state}`), pollOptions)
    .toEqual(["jupyter preparing", "pytorch unavailable", "tensorflow unavailable"]);
});
