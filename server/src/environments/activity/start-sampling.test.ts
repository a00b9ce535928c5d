import { environmentSamples } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import type { Driver, Stats } from "../../drivers/driver.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { testApp } from "../../testing/test-app.ts";
import { setupEnvironments, writeOnly } from "../testing/setup-environments.ts";
import { writeSamples } from "./samples.ts";
import { type SamplingDeps, startSampling } from "./start-sampling.ts";

function sampling(deps: Partial<SamplingDeps> & Pick<SamplingDeps, "db" | "drivers">): unknown[] {
  const { log, errors } = recordLog();
  const loop = startSampling({
    announce: writeOnly,
    log,
    intervalMs: 30,
    ...deps,
  });
  onTestFinished(() => loop.stop());
  return errors;
}

test("the usage of an active environment is measured and shown to its owner only; unknown figures are empty", async () => {
  const product = await testApp({}, { fake: { gpus: 2 } });
  product.deliver();
  const { db, must, call, driver } = product;
  const [ada, bob] = [await product.signUp("Ada"), await product.signUp("Bob")];
  const { environment_id: id } = await product.rent(ada, { gpu_count: 2 });
  const read = async (span: string) =>
    environmentSamples.reply.parse(await must("GET", `/environments/${id}/samples?span=${span}`, ada.token));
  const gpuPercent = async () => (await must("GET", `/profile/${ada.id}`, ada.token)).usage.gpu_percent;
  expect(await read("1h")).toEqual({ status: "success", span: "1h", step_seconds: 60, points: [] });
  expect(await gpuPercent(), "no GPU was sampled yet").toBeNull();

  sampling({ db, drivers: new Map([["local", driver]]) });
  await expect.poll(async () => (await read("1h")).points.length).toBeGreaterThan(0);
  for (const span of ["1h", "24h", "7d"]) {
    const point = (await read(span)).points.at(-1);
    expect(point, span).toMatchObject({ memory_mb: 90, received_bytes_per_second: 0, sent_bytes_per_second: 0 });
    // The fake machine uses a tenth of a core, and 40 % of each GPU.
    expect(point?.cpu_cores, span).toBeCloseTo(0.1, 1);
    expect(point?.gpus.map(({ use_percent, memory_mb }) => [use_percent, memory_mb])).toEqual([
      [40, 900],
      [40, 900],
    ]);
  }
  expect(await gpuPercent()).toBe(40);

  const foreign = await call("GET", `/environments/${id}/samples`, bob.token);
  expect([foreign.statusCode, foreign.body]).toEqual([
    404,
    (await call("GET", `/environments/${newId()}/samples`, bob.token)).body,
  ]);
  for (const span of ["1y", "", "1h&span=7d", "__proto__"]) {
    const refused = await call("GET", `/environments/${id}/samples?span=${span}`, ada.token);
    expect([refused.statusCode, refused.json().code], span).toEqual([400, "invalid_request"]);
  }
});

test("several workers measure each environment once (G191)", async () => {
  const { db, driver, rent, reach } = await setupEnvironments();
  const ids = [await rent(), await rent(), await rent(), await rent()];
  for (const id of ids) await reach(id, "active");
  const workers = ["a", "b", "c"];
  for (const id of workers) await db.insertInto("workers").values({ id, machine: "one", host_name: "gpu-1" }).execute();
  const looks: string[] = [];
  for (const workerId of workers) {
    const stats: Driver["stats"] = async (id) => {
      looks.push(`${id} by ${workerId}`);
      return await driver.stats(id);
    };
    sampling({ db, drivers: new Map([["host", { ...driver, stats }]]), workerId });
  }
  const often = (id: string) => looks.filter((look) => look.startsWith(id)).length > 3;
  await expect.poll(() => ids.every(often), { timeout: 20_000 }).toBe(true);
  expect(new Set(looks).size).toBe(ids.length);
});

test("a busy core and unreadable kernels are not idle; an environment that does nothing is", async () => {
  const busyOf = async (cores: number) => {
    const { db, driver, rent, reach } = await setupEnvironments({ options: { cores } });
    const [open, silent] = [await rent(), await rent()];
    for (const id of [open, silent]) await reach(id, "active");
    await sql`update activity set last_busy_at = now() - interval '1 hour'`.execute(db);
    await sql`update environments set run_token = 'another' where id = ${silent}`.execute(db);
    sampling({ db, drivers: new Map([["host", driver]]), intervalMs: 100 });
    const looks = db.selectFrom("samples").select("looks").where("environment_id", "=", open);
    await expect.poll(async () => (await looks.execute()).some((row) => row.looks > 1)).toBe(true);
    const { rows } = await sql<{ id: string }>`
      select environment_id as id from activity where last_busy_at > now() - interval '1 minute'`.execute(db);
    return [open, silent].map((id) => rows.some((row) => row.id === id));
  };
  expect(await busyOf(0)).toEqual([false, true]);
  expect(await busyOf(2)).toEqual([true, true]);
});

test("an environment that hangs or fails does not delay the others, and failures are logged once a pass", async () => {
  const { db, driver, rent, reach } = await setupEnvironments({ options: { cores: 0 } });
  const [slow, bad, good] = [await rent(), await rent(), await rent()];
  for (const id of [slow, bad, good]) await reach(id, "active");
  await sql`update activity set last_busy_at = now() - interval '1 hour'`.execute(db);
  const asked = new Map<string, number>();
  const stats = async (id: string): Promise<Stats> => {
    asked.set(id, (asked.get(id) ?? 0) + 1);
    if (id === bad) throw new Error("the engine is away");
    return id === slow ? new Promise<Stats>(() => {}) : driver.stats(id);
  };
  const failures = sampling({ db, drivers: new Map<string, Driver>([["host", { ...driver, stats }]]), timeoutMs: 20 });
  const looks = async (id: string) =>
    (await db.selectFrom("samples").where("environment_id", "=", id).select("looks").executeTakeFirst())?.looks ?? 0;
  await expect.poll(() => looks(good)).toBeGreaterThan(2);
  expect(asked.get(slow), "the one that hangs is not asked again meanwhile").toBe(1);
  expect([await looks(slow), await looks(bad)]).toEqual([0, 0]);
  const busy = await sql<{ id: string }>`
    select environment_id as id from activity where last_busy_at > now() - interval '1 minute'`.execute(db);
  expect(busy.rows.map(({ id }) => id).toSorted(), "in doubt it works").toEqual([slow, bad].toSorted());
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.length).toBeLessThanOrEqual(asked.get(bad) ?? 0);
});

test("samples become means per minute and per ten minutes; an ending environment leaves none", async () => {
  const { db, rent, reach, want } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  const sample = (cpuCores: number, homeMb: number) => ({
    ...{ environmentId: id, cpuCores, homeMb, memoryMb: 100 * cpuCores },
    ...{ receivedBytesPerSecond: null, sentBytesPerSecond: null },
    gpus: [{ id: "gpu", usePercent: 10 * cpuCores, memoryMb: 1, watts: 1 }],
  });
  for (const [cores, home] of [
    [1, 10],
    [2, 20],
    [6, 30],
  ] as const)
    await writeSamples(db, [sample(cores, home)]);
  const rows = await db.selectFrom("samples").selectAll().where("span_seconds", "=", 600).execute();
  // Three looks, in one span or across the border of two.
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row) * row.looks, 0) / rows.reduce((sum, { looks }) => sum + looks, 0);
  expect(mean(({ cpu_cores }) => cpu_cores)).toBeCloseTo(3, 4);
  expect(mean(({ memory_mb }) => memory_mb)).toBeCloseTo(300, 2);
  expect(rows.map(({ home_mb }) => home_mb)).toContain(30);
  expect(rows[0]?.received_bytes_per_second).toBeNull();
  await want(id, "terminated");
  await sql`delete from samples`.execute(db);
  await writeSamples(db, [sample(1, 1)]);
  expect(await db.selectFrom("samples").selectAll().execute()).toEqual([]);
});

test("a response has at most 288 points, oldest first", async () => {
  const product = await testApp();
  product.deliver();
  const ada = await product.signUp("Ada");
  const { environment_id: id } = await product.rent(ada);
  for (const [spanSeconds, count] of [
    [60, 1440],
    [600, 4320],
  ])
    await sql`
      insert into samples (environment_id, span_seconds, at, looks, cpu_cores, memory_mb, home_mb)
      select ${id}, ${spanSeconds}::integer, date_bin(make_interval(secs => ${spanSeconds}), now(), 'epoch') - n * make_interval(secs => ${spanSeconds}),
        4, n, 1, 1 from generate_series(0, ${count}::integer - 1) n`.execute(product.db);
  for (const [span, step, most] of [
    ["1h", 60, 60],
    ["24h", 300, 288],
    ["7d", 3600, 168],
  ] as const) {
    const answer = await product.must("GET", `/environments/${id}/samples?span=${span}`, ada.token);
    const { step_seconds, points } = environmentSamples.reply.parse(answer);
    expect(step_seconds).toBe(step);
    expect(points.length).toBeLessThanOrEqual(most);
    expect(points.length).toBeGreaterThan(most - 4);
    expect(points.map(({ at }) => at)).toEqual(points.map(({ at }) => at).toSorted());
  }
});
