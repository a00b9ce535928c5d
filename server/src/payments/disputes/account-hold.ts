import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";

/** Why an account is on hold, until an operator lifts that: suspended (G119), or a dispute was lost. Null: it is not. */
export async function accountHold(db: Sql, userId: string): Promise<"suspended" | "disputed" | null> {
  const { rows } = await sql<{ why: "suspended" | "disputed" | null }>`
    select case
      when exists (select from account_suspensions where user_id = ${userId} and lifted_at is null) then 'suspended'
      when exists (select from account_holds where user_id = ${userId} and lifted_at is null) then 'disputed'
    end as why`.execute(db);
  return rows[0]?.why ?? null;
}
