import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";

/** Why an account may buy nothing until an operator lifts that: suspended (G119), or on hold after a lost dispute. */
export async function accountStop(db: Sql, userId: string): Promise<"suspended" | "held" | null> {
  const { rows } = await sql<{ stop: "suspended" | "held" | null }>`
    select case
      when exists (select from account_suspensions where user_id = ${userId} and lifted_at is null) then 'suspended'
      when exists (select from account_holds where user_id = ${userId} and lifted_at is null) then 'held'
    end as stop`.execute(db);
  return rows[0]?.stop ?? null;
}
