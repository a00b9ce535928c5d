import { bankedDays } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";

/** Returns the whole seconds that are banked; time that was banked before and has not begun stays as it was. */
export async function bankTime(tx: Tx, id: string, goneSeconds = 0): Promise<number> {
  const left = sql<number>`extract(epoch from expires_at - now()) + ${goneSeconds}::float8`;
  const { rows } = await sql<{ banked_seconds: number }>`
    update environments
    set banked_seconds = case when expires_at is null then banked_seconds else floor(${left}) end, expires_at = null,
      banked_until = coalesce(banked_until, now() + make_interval(days => ${bankedDays})),
      notice = case when expires_at is null then notice else '' end
    where id = ${id} and (expires_at is null or ${left} > 0) returning banked_seconds`.execute(tx);
  return rows[0]?.banked_seconds ?? 0;
}
