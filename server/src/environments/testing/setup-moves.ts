import { sql } from "kysely";
import { onTestFinished } from "vitest";
import { fetchDue } from "../../database/work-queue.ts";
import type { Driver } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../hosts/register-host.ts";
import { type MoveDeps, moveHome } from "../moves/move-home.ts";
import { moveQueue } from "../moves/move-queue.ts";
import { requestMoves } from "../moves/request-moves.ts";
import { type Rental, setupEnvironments } from "./setup-environments.ts";

/** Two fake hosts, `host` with what is rented and `other` with nothing, and the passes of a move. */
export async function setupMoves({ slots = 8 } = {}) {
  const base = await setupEnvironments({ slots });
  const { db, driver, rent, reach, want, read } = base;
  const other = fakeDriver({});
  onTestFinished(() => other.close());
  const drivers = new Map<string, Driver>([["host", driver]]);
  const deps: MoveDeps = { ...base.deps, drivers, stopping: new AbortController().signal };
  Object.assign(base.deps, { drivers });
  return {
    ...base,
    other,
    moveDeps: deps,
    /** The second host takes environments from now on: what was rented before is on the first. */
    async open(slotsThere = 8) {
      await registerHost(db, "other", other, slotsThere);
      drivers.set("other", other);
    },
    /** An environment with a file, stopped. */
    async stopped(rental: Rental = {}) {
      const id = await rent(rental);
      await reach(id, "active");
      const { home } = await read(id);
      driver.machine.homes.get(home)?.set("a.txt", "words\n").set("data/b.bin", "x".repeat(300_000));
      await want(id, "stopped");
      await reach(id, "stopped");
      return { id, home };
    },
    /** What an operator's drain writes; drain-host.test.ts has the command. */
    empty: () => sql`update hosts set drained_at = now(), moving_since = now() where id = 'host'`.execute(db),
    /** One pass over all moves, due or not, except those that a worker has. */
    async movePass(changed: Partial<MoveDeps> = {}): Promise<void> {
      await requestMoves(db);
      const rows = await fetchDue(db, moveQueue, { where: sql`true`, limit: 10, early: true });
      for (const row of rows) await moveHome({ ...deps, ...changed }, row);
    },
    moves: () => db.selectFrom("home_moves").selectAll().execute(),
    movedNotices: () => db.selectFrom("notifications").selectAll().where("cause", "like", "moved:%").execute(),
  };
}
