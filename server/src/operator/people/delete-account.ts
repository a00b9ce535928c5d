import { eraseAccount } from "../../account/erase-account.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { deleteUser } from "../../identity/local/accounts.ts";
import { userIdOf } from "./find-user.ts";

/** Deletes an account that cannot do it itself, because it is suspended (G71, G119). Returns its id. */
export async function deleteAccount(db: Db, who: string, author: Author, isMeant: boolean): Promise<string> {
  requireReason(author);
  const userId = await userIdOf(db, who);
  const identity = { deleteUser: async (uid: string, tx: Parameters<typeof deleteUser>[0]) => deleteUser(tx, uid) };
  if (isMeant) await eraseAccount(db, identity, userId, (tx) => recordAct(tx, author, "user.delete", userId));
  return userId;
}
