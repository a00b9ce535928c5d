import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupEnvironments } from "../testing/setup-environments.ts";

const pollOptions = { timeout: 15_000, interval: 20 };

test.for([7200, -7200])(
  "C46 P3: a wall clock that jumped by %s s destroys nothing and is logged; launches go on, and the rest after a correction",
  async (seconds) => {
    const { db, driver, start, rent, reach, read, want, recorded } = await setupEnvironments();
    const ended = await rent({ subdomain: "ended", userId: "other" });
    await reach(ended, "active");
    await want(ended, "terminated");
    await reach(ended, "terminated");
    const { home } = await read(ended);
    driver.machine.homes.set(home, new Map([["notes.txt", "kept"]]));
    await sql`update subdomain_claims set retained_until = now() where name = 'ended'`.execute(db);
    await sql`update homes set delete_at = now() where subdomain = 'ended'`.execute(db);
    const running = await rent();
    await reach(running, "active");
    await sql`update environments set expires_at = now(), due_at = now() where id = ${running}`.execute(db);

    // The start takes its bearings; then the machine's time is set.
    let jumpedSeconds: number | undefined;
    const uptimeSeconds = () => {
      const at = performance.now() / 1000 - (jumpedSeconds ?? 0);
      jumpedSeconds ??= seconds;
      return at;
    };
    const loop = start({ uptimeSeconds });
    const fresh = await rent({ userId: "third" });
    await expect.poll(async () => (await read(fresh)).status, pollOptions).toBe("active");
    await expect
      .poll(() => recorded.failures.filter((error) => String(error).includes("clock")).length)
      .toBeGreaterThan(1);
    expect(await read(running)).toMatchObject({ status: "active", desired: "running" });
    expect(driver.machine.homes.has(home)).toBe(true);

    jumpedSeconds = 0;
    loop.trigger();
    await expect.poll(async () => (await read(running)).ended_reason, pollOptions).toBe("expired");
    await expect.poll(async () => (await read(running)).status, pollOptions).toBe("terminated");
  },
);
