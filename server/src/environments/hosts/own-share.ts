import { type RawBuilder, sql } from "kysely";
import { isLiving } from "./join-workers.ts";

/**
 * A condition on the id of an environment: whether this worker looks at it (G191). The living workers divide the
 * environments by a hash, so that each is looked at once; the share of a killed one is looked at by others after a minute.
 * Without a worker's id, everything.
 */
export function ownShare(workerId: string | undefined, id: RawBuilder<string> = sql.ref("id")): RawBuilder<boolean> {
  if (workerId === undefined) return sql`true`;
  const before = sql`(select count(*) from workers where ${isLiving} and workers.id < ${workerId})`;
  const all = sql`(select greatest(1, count(*)) from workers where ${isLiving})`;
  return sql`(mod(hashtext(${id})::bigint & 2147483647, ${all}) = ${before})`;
}
