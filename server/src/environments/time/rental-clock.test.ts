import { sql } from "kysely";
import { expect, test } from "vitest";
import { type Setup, setupEnvironments } from "../testing/setup-environments.ts";

const silent = { isReady: async () => false };

/** An environment with an hour left that its owner has stopped and starts again; its JupyterLab has not answered yet. */
async function restarted({ durationHours = 6, before = sql`notice = ''` } = {}) {
  const setup = await setupEnvironments();
  const { db, rent, reach, want, pass, read } = setup;
  const id = await rent({ durationHours });
  await reach(id, "active");
  await sql`update environments set expires_at = now() + interval '1 hour' where id = ${id}`.execute(db);
  await want(id, "stopped");
  await reach(id, "stopped");
  await sql`update environments set banked_seconds = 3600 where id = ${id} and expires_at is null`.execute(db);
  await sql`update environments set ${before} where id = ${id}`.execute(db);
  await start(setup, id);
  await pass(silent);
  expect(await read(id)).toMatchObject({ status: "pending", expires_at: expect.any(Date) });
  return { ...setup, id };
}

/** As `act` does: the GPUs first. */
async function start({ db, want }: Setup, id: string): Promise<void> {
  await sql`
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id)
    select id || random(), id, 'environment', ${id} from gpus g
    where not exists (select from gpu_leases where gpu_id = g.id and released_at is null)
      and not exists (select from gpu_leases where holder_id = ${id} and released_at is null) limit 1`.execute(db);
  await sql`update environments set stage = 'placed' where id = ${id}`.execute(db);
  await want(id, "running");
}

/** As if the container had run so much longer without an answer. */
const goBy = ({ db }: Setup, id: string, seconds: number) =>
  sql`update environments set clock_from = clock_from - make_interval(secs => ${seconds}),
    expires_at = expires_at - make_interval(secs => ${seconds}) where id = ${id}`.execute(db);

const leftOf = async ({ read }: Setup, id: string) =>
  (((await read(id)).expires_at?.getTime() ?? 0) - Date.now()) / 1000;

const about = (seconds: number) => [expect.closeTo(seconds, -1)];

test.for([
  { name: "a start that is ready at once costs nothing", seconds: 0, left: 3600 },
  { name: "a slow one costs nothing for a minute", seconds: 55, left: 3600 },
  { name: "a longer one is the owner's time", seconds: 300, left: 3360 },
  {
    name: "the tenth free minute of a day was used",
    seconds: 55,
    left: 3545,
    before: sql`free_on = (now() at time zone 'utc')::date, free_seconds = 600`,
  },
  {
    name: "half a free minute is left of the day",
    seconds: 55,
    left: 3575,
    before: sql`free_on = (now() at time zone 'utc')::date, free_seconds = 570`,
  },
  {
    name: "yesterday's are not counted",
    seconds: 55,
    left: 3600,
    before: sql`free_on = (now() at time zone 'utc')::date - 1, free_seconds = 600`,
  },
  { name: "a monthly plan's clock runs anyway", seconds: 55, left: 3600, durationHours: 720 },
])("G105 from the second start on: $name", async ({ seconds, left, before, durationHours }) => {
  const setup = await restarted({ ...(before && { before }), ...(durationHours && { durationHours }) });
  const { id, reach, read } = setup;
  await goBy(setup, id, durationHours ? 0 : seconds);
  await reach(id, "active");
  expect([await leftOf(setup, id)]).toEqual(about(left));
  expect(await read(id)).toMatchObject({ clock_from: null, banked_seconds: 0 });
});

test("G105 only the used part of a free minute counts, and starts of one day add up", async () => {
  const setup = await restarted();
  const { id, reach, read, want, pass } = setup;
  await goBy(setup, id, 20);
  await reach(id, "active");
  expect([(await read(id)).free_seconds]).toEqual([expect.closeTo(20, -1)]);
  await want(id, "stopped");
  await reach(id, "stopped");
  await start(setup, id);
  await pass(silent);
  await goBy(setup, id, 100);
  await reach(id, "active");
  expect([(await read(id)).free_seconds]).toEqual([expect.closeTo(80, -1)]);
});

test("G105 a job that keeps JupyterLab silent is billed: two cycles of stop and start cost their time", async () => {
  const setup = await restarted();
  const { id, reach, read, want, pass } = setup;
  for (const cycle of [1, 2]) {
    await goBy(setup, id, 560);
    await want(id, "stopped");
    await reach(id, "stopped");
    expect([(await read(id)).banked_seconds], `cycle ${cycle}`).toEqual(about(3600 - cycle * 500));
    await start(setup, id);
    await pass(silent);
  }
});

test("G105 banked time that runs out before JupyterLab is ready ends the environment then, and not later", async () => {
  const setup = await restarted({ before: sql`banked_seconds = 30` });
  const { id, reach, read, pass } = setup;
  await goBy(setup, id, 80);
  await pass(silent);
  expect(await read(id)).toMatchObject({ status: "pending", desired: "running" });
  await goBy(setup, id, 11);
  await pass(silent);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "expired" });
});

test("G105 an extension of a start that is not ready adds its hours", async () => {
  const setup = await restarted();
  const { db, id, reach } = setup;
  const { extend } = await import("./extend.ts");
  expect(await db.transaction().execute((tx) => extend(tx, id, 2))).toBe(true);
  await goBy(setup, id, 160);
  await reach(id, "active");
  expect([await leftOf(setup, id)]).toEqual(about(3 * 3600 - 100));
});

test("G105 the first start is free until JupyterLab is ready", async () => {
  const { rent, pass, reach, read, db } = await setupEnvironments();
  const id = await rent({ durationHours: 1 });
  await pass(silent);
  await sql`update launch_stages set at = at - interval '5 minutes'`.execute(db);
  await pass(silent);
  expect(await read(id)).toMatchObject({ expires_at: null, clock_from: null, created_at: null });
  await reach(id, "active");
  const { expires_at: end, created_at: begin } = await read(id);
  expect((end?.getTime() ?? 0) - (begin?.getTime() ?? 0)).toBe(3_600_000);
});

/** Down for five minutes with an hour left; its new container then runs for so long before it answers. */
test.for([
  { name: "a machine whose engine refuses", fault: true, seconds: 55, left: 3600 },
  { name: "a machine that fails, and a program that is silent after", fault: true, seconds: 160, left: 3500 },
  { name: "a program that ended by itself", fault: false, seconds: 55, left: 3600 - 300 - 55 },
])("G105, G106 a restart by the product: $name", async ({ fault, seconds, left }) => {
  const setup = await setupEnvironments();
  const { db, driver, rent, reach, pass, read } = setup;
  const id = await rent({ durationHours: 6 });
  await reach(id, "active");
  await sql`update environments set expires_at = now() + interval '1 hour' where id = ${id}`.execute(db);
  if (fault) driver.failNext("start", "refused", 1);
  await driver.crash(id);
  await pass(silent);
  await pass(silent);
  expect((await read(id)).fault_since === null).toBe(!fault);
  await sql`update environments set fault_since = fault_since - interval '5 minutes',
    expires_at = expires_at - interval '5 minutes' where id = ${id}`.execute(db);
  await pass(silent);
  await pass(silent);
  expect((await read(id)).fault_since).toBeNull();
  await sql`update environments set clock_from = clock_from - make_interval(secs => ${seconds}),
    expires_at = expires_at - make_interval(secs => ${seconds}) where id = ${id}`.execute(db);
  await reach(id, "active");
  expect([await leftOf(setup, id)]).toEqual(about(left));
});
