import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** How long a GPU must be busy while nothing is done in the notebook. */
export const quietMinutes = 60;
const busyPercent = 95;
/** Of the last hour: the worker may have been away for some of it. */
const leastMinutes = 55;

/** Returns the mean use in percent of environments on a host whose GPUs were all busy for the whole last hour. */
export async function busyGpus(db: Db, hostId: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; percent: number }>`
    select e.id, avg(s.use_percent)::float8 as percent
    from environments e join gpu_samples s on s.environment_id = e.id
      and s.span_seconds = 60 and s.at > now() - make_interval(mins => ${quietMinutes + 1})
    where e.host_id = ${hostId} and e.status = 'active'
    group by e.id
    having min(s.use_percent) >= ${busyPercent} and count(distinct s.at) >= ${leastMinutes}`.execute(db);
  return new Map(rows.map(({ id, percent }) => [id, Math.round(percent)]));
}
