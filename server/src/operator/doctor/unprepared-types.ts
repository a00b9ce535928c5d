import type { Catalogue } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** Types that are sold and that no open host can run, with what prepares them (G125): no fault, but nobody can order them. */
export async function unpreparedTypes(db: Db, { types }: Catalogue): Promise<string[]> {
  const { rows } = await sql<{ type: string; message: string }>`
    select container_type as type, min(message) as message from host_images join hosts on hosts.id = host_id
    where is_open group by container_type having bool_and(state = 'unavailable') order by container_type`.execute(db);
  return rows.flatMap(({ type, message }) =>
    types.some(({ id }) => id === type) ? [`${type} is shown as not offered: ${message}.`] : [],
  );
}
