import { sql } from "kysely";
import { expect, test } from "vitest";
import { purges } from "../../roles/start-purging.ts";
import { rent, setupEnvironments } from "../testing/setup-environments.ts";

test("sessions and stages are deleted a year after the end; leases a year after their release", async () => {
  const { db } = await setupEnvironments();
  const [old, recent, running] = [await rent(db), await rent(db), await rent(db)];
  for (const [id, ended] of [
    [old, "366 days"],
    [recent, "364 days"],
  ] as const) {
    await sql`
      update environments set status = 'terminated', desired = 'terminated', ended_reason = 'expired',
        terminated_at = now() - ${ended}::interval where id = ${id}`.execute(db);
    await sql`update gpu_leases set released_at = now() - ${ended}::interval where holder_id = ${id}`.execute(db);
  }
  for (const id of [old, recent, running]) {
    await sql`
      insert into sessions (id, environment_id, user_id, container_type, opened_at, closed_at)
      values (${id}, ${id}, 'user', 'jupyter', now() - interval '400 days', now() - interval '399 days')`.execute(db);
    await sql`insert into launch_stages (environment_id, generation, stage) values (${id}, 9, 'placed')`.execute(db);
  }

  for (const purge of purges) await purge(db);

  const left = async (table: string, column: string) =>
    (await sql<{ id: string }>`select distinct ${sql.ref(column)} as id from ${sql.table(table)}`.execute(db)).rows.map(
      ({ id }) => id,
    );
  for (const [table, column] of [
    ["sessions", "environment_id"],
    ["launch_stages", "environment_id"],
    ["gpu_leases", "holder_id"],
  ] as const)
    expect((await left(table, column)).sort(), table).toEqual([recent, running].sort());
  expect((await left("environments", "id")).length, "environments stay").toBe(3);
});
