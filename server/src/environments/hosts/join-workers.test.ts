import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { joinWorkers } from "./join-workers.ts";

vi.setConfig({ testTimeout: 60_000 });
const whenever = { timeout: 30_000, interval: 20 };

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const join = async (machine: string, log = silentLogger, intervalMs = 50) => {
    const member = await joinWorkers({ db, machine, log, intervalMs });
    onTestFinished(member.stop);
    return member;
  };
  const machines = async () =>
    (await db.selectFrom("workers").select("machine").orderBy("machine").execute()).map(({ machine }) => machine);
  return { db, join, machines };
}

test("workers of one machine work side by side; one of another machine is refused while one of them lives (G190)", async () => {
  const { join, machines } = await setup();
  const first = await join("engine A");
  const second = await join("engine A");
  expect(await machines()).toEqual(["engine A", "engine A"]);
  await expect(join("engine B")).rejects.toThrow(/has another machine as the host local \(engine A; here: engine B\)/);
  await first.stop();
  await expect(join("engine B")).rejects.toMatchObject({ code: "refused" });
  await second.stop();
  await join("engine B");
  expect(await machines()).toEqual(["engine B"]);
});

test("of workers of two machines that start at once, one machine's join", async () => {
  const { join, machines } = await setup();
  const joined = await Promise.allSettled(["A", "B", "A", "B"].map((machine) => join(machine)));
  const [machine] = await machines();
  expect(joined.map(({ status }) => status)).toEqual(
    ["A", "B", "A", "B"].map((each) => (each === machine ? "fulfilled" : "rejected")),
  );
});

test("a killed worker of another machine is waited for, and is not waited for after a minute", async () => {
  const { db, join, machines } = await setup();
  const { log, lines } = recordLog();
  await db.insertInto("workers").values({ id: "killed", machine: "engine A", host_name: "gpu-1" }).execute();
  const joining = join("engine B", log);
  await expect.poll(() => lines.map(({ event }) => event), whenever).toEqual(["worker.waits"]);
  await sql`update workers set seen_at = seen_at - interval '61 seconds'`.execute(db);
  await joining;
  expect(await machines()).toEqual(["engine B"]);
});

test("a worker that was away joins again, or hears that another machine took over", async () => {
  const { db, join, machines } = await setup();
  const { lost } = await join("engine A");
  await db.deleteFrom("workers").execute();
  await expect.poll(machines, whenever).toEqual(["engine A"]);
  await sql`update workers set id = 'other', machine = 'engine B'`.execute(db);
  await expect(lost).rejects.toThrow("here: engine A");
});
