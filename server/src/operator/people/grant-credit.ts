import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { addCredit } from "../../payments/credits/add-credit.ts";
import { gpuHoursText } from "../../payments/credits/gpu-hours-text.ts";
import { sentence } from "../../text/sentence.ts";
import { userIdOf } from "./find-user.ts";
import type { PeopleDeps } from "./warn-user.ts";

export interface GrantedCredit {
  readonly id: string;
  readonly userId: string;
}

/** Grants a credit of GPU-hours for the author's reason, which the account's owner reads (G153). Throws for no account. */
export async function grantCredit(
  { db, announce }: Pick<PeopleDeps, "db" | "announce">,
  who: string,
  gpuHours: number,
  author: Author,
): Promise<GrantedCredit> {
  const reason = requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const userId = await userIdOf(tx, who);
    await lockUserForUpdate(tx, userId);
    const credit = await addCredit(tx, { userId, gpuHours, source: "operator", note: reason });
    if (!credit) throw new AppError("not_found", `There is no account ${who}`);
    await announce(tx, {
      userId,
      cause: `credit:${credit.id}`,
      title: `${gpuHoursText(gpuHours)} for your next environment`,
      body: `${sentence(reason)} They are added by themselves to the hours that you buy: with 2 GPUs, half as many hours.`,
      link: "/billing",
    });
    await recordAct(tx, author, "credit.grant", userId, { credit: credit.id, gpu_hours: gpuHours });
    return { id: credit.id, userId };
  });
}

/** Takes an open credit back. Returns false when it was revoked before; throws for none, and for one that was used. */
export async function revokeCredit(
  { db, announce }: Pick<PeopleDeps, "db" | "announce">,
  id: string,
  author: Author,
): Promise<boolean> {
  const reason = requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const credit = await tx
      .selectFrom("granted_credits")
      .selectAll()
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (!credit) throw new AppError("not_found", `There is no granted credit ${id}; credits list names them`);
    const { user_id: userId, gpu_hours, used_by_order } = credit;
    if (used_by_order !== null)
      throw new AppError("action_not_allowed", `${id} was used by the order ${used_by_order}: nothing is left of it`);
    if (credit.revoked_at !== null) return false;
    await tx.updateTable("granted_credits").set({ revoked_at: sql`now()` }).where("id", "=", id).execute();
    await announce(tx, {
      userId,
      cause: `credit-revoked:${id}`,
      title: `${gpuHoursText(gpu_hours)} were withdrawn`,
      body: `${sentence(reason)} They were a credit that you had not used yet.`,
      link: "/billing",
    });
    await recordAct(tx, author, "credit.revoke", userId, { credit: id, gpu_hours });
    return true;
  });
}
