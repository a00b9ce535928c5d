import { type Catalogue, type CatalogueProblem, plural, recipes } from "@berth/contract";
import { sql } from "kysely";
import type { Sql } from "../database/database.ts";

/**
 * Types that the catalogue no longer has though environments of them have not ended, and whose recipe is not their id: only the
 * catalogue knows what such an environment runs when it is started again.
 */
export async function removedTypes(db: Sql, { types }: Pick<Catalogue, "types">): Promise<CatalogueProblem[]> {
  const known = [...recipes, ...types.map(({ id }) => id)];
  const { rows } = await sql<{ type: string; count: number }>`
    select container_type as type, count(*)::integer as count from environments
    where terminated_at is null and container_type <> all(${known}) group by 1 order by 1`.execute(db);
  return rows.map(({ type, count }) => ({
    path: ["types"],
    message: `lacks ${type}, which ${plural(count, "environment needs", "environments need")} to start again: keep it until they have ended`,
  }));
}
