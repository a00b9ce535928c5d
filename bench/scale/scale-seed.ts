import { sql } from "kysely";
import type { Db } from "../../server/src/database/database.ts";
import type { Driver } from "../../server/src/drivers/driver.ts";
import { registerHost, thisMachine } from "../../server/src/environments/hosts/register-host.ts";
import { runSpec } from "../../server/src/environments/reconciler/start-run.ts";
import type { LeasedEnvironment } from "../../server/src/environments/reconciler/work-lease.ts";
import { until } from "../../testing/customer.ts";
import { rentFleet } from "../../testing/rent-fleet.ts";

const concurrency = 32;

/** Environments that are active, and their runs on the engine, as if launched before; no worker may run yet. */
export async function seedActive(db: Db, driver: Driver, count: number): Promise<void> {
  await registerHost(db, thisMachine, driver);
  await rentFleet(db, count);
  await sql`update orders set status = 'fulfilled', closed_at = now()`.execute(db);
  await sql`
    update environments set status = 'active', generation = 1, run_token = md5(id), stage = null, created_at = now(),
      first_attempt_at = now(), expires_at = now() + interval '1 day', due_at = now() + random() * interval '20 seconds'`.execute(
    db,
  );
  const rows = await db.selectFrom("environments").selectAll().execute();
  const queue = rows.values();
  const starting = async () => {
    for (const row of queue) await driver.start(await runSpec(db, row as LeasedEnvironment));
  };
  await Promise.all(Array.from({ length: concurrency }, starting));
  let runs = await driver.list();
  await until("all to run", async () => {
    runs = await driver.list();
    return runs.filter(({ observed }) => observed.state === "running").length === count;
  });
  const endpoints = runs.flatMap(({ id, observed }) =>
    "endpoint" in observed ? [{ id, endpoint: observed.endpoint }] : [],
  );
  await sql`
    update environments e set endpoint = run.endpoint
    from jsonb_to_recordset(${JSON.stringify(endpoints)}) as run (id text, endpoint jsonb) where run.id = e.id`.execute(
    db,
  );
}
