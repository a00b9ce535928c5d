import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** Whether the type `i.container_type` was launched within 30 days: only then it is missed where it cannot be started. */
export const isRentedType = sql`exists (
  select from launch_times t join environments e on e.id = t.environment_id
  where t.ready_at > now() - interval '30 days' and e.container_type = i.container_type)`;

interface MissingImage {
  readonly hostId: string;
  readonly type: string;
  readonly message: string;
}

/** Types that people rent and that hosts without a Docker Engine cannot start; an engine is asked itself. */
export async function missingImages(db: Db): Promise<readonly MissingImage[]> {
  const { rows } = await sql<MissingImage>`
    select i.host_id as "hostId", i.container_type as type, i.message
    from host_images i join hosts h on h.id = i.host_id
    where h.removed_at is null and h.kind <> 'docker' and i.state <> 'ready' and ${isRentedType}
    order by 1, 2`.execute(db);
  return rows;
}
