import { sql } from "kysely";
import type { Db, Tx } from "../database/database.ts";
import { forgetNameOwner } from "../environments/allocation/former-names.ts";
import { endAll } from "../environments/api/environment-actions.ts";
import { isAccountDeleted, releaseHomes } from "../environments/homes/home-records.ts";
import { exitQueue } from "../environments/queue/join-queue.ts";
import { lockUserForUpdate } from "../identity/local/users.ts";
import { endUnpaidOrdersOf } from "../payments/orders/end-unpaid-order.ts";

/**
 * Deletes an account in one transaction (G71). Background loops then end containers, delete files and send refunds.
 * Orders and payments stay without a name, because the law requires receipts to be kept. `erased` runs last, once. Lock
 * order (docs/internals/locking.md): the user, orders, environments, sign-ins.
 */
export async function eraseAccount(
  db: Db,
  identity: { deleteUser(uid: string, tx: Tx): Promise<void> },
  userId: string,
  erased: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockUserForUpdate(tx, userId);
    await endUnpaidOrdersOf(tx, userId);
    await endAll(tx, userId);
    await identity.deleteUser(userId, tx);
    await exitQueue(tx, userId);
    // Waits for transactions that write about this user; later ones see the mark and write nothing.
    await sql`select pg_advisory_xact_lock(hashtextextended(${userId}, 6))`.execute(tx);
    if (await isAccountDeleted(tx, userId)) return;
    await tx.insertInto("deleted_accounts").values({ user_id: userId }).execute();
    await releaseHomes(tx, userId);
    await forgetNameOwner(tx, userId);
    for (const table of ["receipts", "credit_notes"] as const)
      await tx
        .updateTable(table)
        .set({ document: sql`document || '{"customer_name": "", "customer_email": ""}'` })
        .where("user_id", "=", userId)
        .execute();
    await tx
      .updateTable("granted_credits")
      .set({ note: "", revoked_at: sql`case when used_by_order is null then coalesce(revoked_at, now()) end` })
      .where("user_id", "=", userId)
      .execute();
    const rented = tx.selectFrom("environments").select("id").where("user_id", "=", userId);
    for (const table of usageTables) await tx.deleteFrom(table).where("environment_id", "in", rented).execute();
    for (const table of personalTables) await tx.deleteFrom(table).where("user_id", "=", userId).execute();
    await erased(tx);
  });
}

const usageTables = ["samples", "gpu_samples", "activity"] as const;

/** The gateway was notified about the grants before, by `endSessions`. */
const personalTables = [
  "profiles",
  "user_flags",
  "queue_entries",
  "notifications",
  "mails",
  "ticket_answers",
  "support_tickets",
  "account_warnings",
  "account_suspensions",
  "refund_requests",
  "sign_in_codes",
  "archive_codes",
  "grants",
  "share_links",
] as const;
