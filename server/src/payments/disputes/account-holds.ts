import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";

/** Refuses an account of which a dispute was lost, until an operator has looked at it. */
export async function checkAccountHold(tx: Tx, userId: string): Promise<void> {
  const held = tx.selectFrom("account_holds").select("user_id").where("user_id", "=", userId);
  if (await held.where("lifted_at", "is", null).executeTakeFirst())
    throw new AppError(
      "account_held",
      "New orders of this account are stopped, because a payment of it was taken back by the bank. Write to Support.",
      { money: "nothing_taken" },
    );
}

/** The account may order again, whatever disputes it has lost so far. Answers how many holds were lifted. */
export async function liftAccountHold(db: Db, userId: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("account_holds")
    .set({ lifted_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("lifted_at", "is", null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
