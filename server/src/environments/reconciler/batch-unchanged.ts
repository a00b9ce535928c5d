import { sql } from "kysely";
import { batch } from "../../async/batch.ts";
import type { Db } from "../../database/database.ts";
import { withoutLease } from "../../database/work-queue.ts";
import { dueIn, type LeasedEnvironment } from "./work-lease.ts";

interface Unchanged {
  readonly row: LeasedEnvironment;
  readonly waitMs: number;
}

/** False when the lease, or the desired state, is no longer the same. */
export type UnchangedWriter = (unchanged: Unchanged) => Promise<boolean>;

/** Nothing waits for these writes but the slot of the row. */
const gatherMs = 5;

/**
 * Most passes change nothing, so those of a few milliseconds are written in one statement. A lost write costs one more pass, so
 * the commit does not wait for the disk. Rows are locked in the order of their ids, as everywhere.
 */
export function batchUnchanged(db: Db): UnchangedWriter {
  return batch(async (all: readonly Unchanged[]) => {
    const rows = all.map(({ row: { id, lease_token: lease, desired }, waitMs }) => ({
      id,
      lease,
      desired,
      wait: waitMs,
    }));
    const written = await sql<{ id: string }>`
      with async_commit as (select set_config('synchronous_commit', 'off', true)),
      unchanged as (
        select e.id, pass.wait from environments e
        join json_to_recordset(${JSON.stringify(rows)}) as pass (id text, lease uuid, desired text, wait float8)
          on e.id = pass.id and e.lease_token = pass.lease and e.desired = pass.desired
        order by e.id for update of e)
      update environments e set ${withoutLease}, attempts = 0, last_error = case when waits_for is not null then last_error end, due_at = ${dueIn(sql`unchanged.wait`)}
      from async_commit, unchanged where e.id = unchanged.id returning e.id`.execute(db);
    const ids = new Set(written.rows.map(({ id }) => id));
    return rows.map(({ id }) => ids.has(id));
  }, gatherMs);
}
