import { exportAccount } from "@berth/contract";
import { exportAccountOf } from "../../account/export-account.ts";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { findUser } from "../../identity/local/users.ts";
import { userIdOf } from "./find-user.ts";

interface UserExport {
  readonly userId: string;
  /** JSON, with a line break at its end. */
  readonly document: string;
}

/** Returns what a user would export (G71). Throws for no account. */
export async function exportUser(db: Db, who: string): Promise<UserExport> {
  const userId = await userIdOf(db, who);
  const user = await findUser(db, { uid: userId });
  if (!user) throw new AppError("not_found", `There is no account ${who}`);
  const { email, email_verified: emailVerified, name } = user;
  const stored = await exportAccountOf(db, { id: userId, email, emailVerified, name: name ?? "" });
  const document = exportAccount.reply.parse({ status: "success", ...stored });
  return { userId, document: `${JSON.stringify(document, null, 2)}\n` };
}

/** Writes an export into the audit, before or after it is handed over. */
export async function recordExport(db: Db, userId: string, author: Author): Promise<void> {
  await db.transaction().execute((tx) => recordAct(tx, author, "user.export", userId));
}
