import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupEnvironments } from "./testing.ts";

/** A loop whose steady clock can be moved against the database's, as when somebody sets the machine's time. */
async function setup() {
  const environments = await setupEnvironments();
  const { db, start, rent, reach, driver } = environments;
  const startedAt = performance.now();
  let jumpedSeconds = 0;
  const running = await rent();
  await reach(running, "active");
  const { home } = await environments.read(running);
  driver.machine.homes.set("lapsed", new Map([["notes.txt", "kept"]]));
  const lapsed = await rent({ subdomain: "lapsed", userId: "other" });
  await sql`update environments set status = 'terminated', desired = 'terminated', terminated_at = now(), created_at = now(), home = 'lapsed'
    where id = ${lapsed}`.execute(db);
  await sql`update subdomain_claims set order_id = null, retained_until = now() + interval '1 hour' where name = 'lapsed'`.execute(
    db,
  );
  const uptimeSeconds = () => (performance.now() - startedAt) / 1000 - jumpedSeconds;
  return {
    ...environments,
    running,
    home,
    /** Starts the loop, and moves the wall clock once it has taken its bearings. */
    async run(seconds: number) {
      const loop = start({ uptimeSeconds });
      const other = await rent({ userId: "first" });
      await expect.poll(async () => (await environments.read(other)).status, patience).toBe("active");
      jumpedSeconds = seconds;
      await sql`update environments set expires_at = now(), due_at = now() where id = ${running}`.execute(db);
      await sql`update subdomain_claims set retained_until = now() where name = 'lapsed'`.execute(db);
      loop.nudge();
      return loop;
    },
    jump: (seconds: number) => {
      jumpedSeconds = seconds;
    },
  };
}

const patience = { timeout: 15_000, interval: 20 };

test.for([7200, -7200])(
  "P3: a wall clock that jumped by %s s ends nothing and says so; launches go on, and so does all when it is right again",
  async (seconds) => {
    const { run, jump, read, running, rent, told, driver, start, parts } = await setup();
    const loop = await run(seconds);
    const fresh = await rent({ userId: "third" });
    await expect.poll(async () => (await read(fresh)).status, patience).toBe("active");
    await expect.poll(() => String(told.failures), patience).toContain("clock");
    expect(await read(running)).toMatchObject({ status: "active", desired: "running" });
    expect(driver.machine.homes.has("lapsed")).toBe(true);
    const claims = driver.calls.get("observe") ?? 0;
    await expect.poll(async () => (await read(running)).due_at.getTime() > Date.now(), patience).toBe(true);
    expect((driver.calls.get("observe") ?? 0) - claims).toBeLessThan(20);
    jump(0);
    loop.nudge();
    await expect.poll(async () => (await read(running)).ended_reason, patience).toBe("expired");
    void [start, parts];
  },
);
