import { writeFile } from "node:fs/promises";
import { exportAccount } from "@berth/contract";
import { exportAccountOf } from "../../account/export-account.ts";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { findUser } from "../../identity/local/users.ts";
import { userIdOf } from "./find-user.ts";

/** Writes what a user would export (G71) into a new file that only its owner can read. Throws when the file exists. */
export async function exportUser(db: Db, who: string, path: string, author: Author): Promise<string> {
  const userId = await userIdOf(db, who);
  const user = await findUser(db, { uid: userId });
  if (!user) throw new AppError("not_found", `There is no account ${who}`);
  const { email, email_verified: emailVerified, name } = user;
  const stored = await exportAccountOf(db, { id: userId, email, emailVerified, name: name ?? "" });
  const document = exportAccount.reply.parse({ status: "success", ...stored });
  await writeFile(path, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600, flag: "wx" }).catch((error) => {
    throw new AppError("invalid_request", `The export cannot be written: ${error.message}`);
  });
  await db.transaction().execute((tx) => recordAct(tx, author, "user.export", userId));
  return userId;
}
