import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";

/** Lifts all holds of an account after lost disputes. Returns how many were lifted. */
export async function liftAccountHold(db: Db, userId: string, author: Author): Promise<number> {
  return await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("account_holds")
      .set({ lifted_at: sql`now()` })
      .where("user_id", "=", userId)
      .where("lifted_at", "is", null)
      .executeTakeFirst();
    const lifted = Number(numUpdatedRows);
    if (lifted > 0) await recordAct(tx, author, "hold.lift", userId, { disputes: lifted });
    return lifted;
  });
}
