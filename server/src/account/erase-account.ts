import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { endAll } from "../environments/api/environment-actions.ts";
import { isAccountDeleted, releaseHomes } from "../environments/homes/home-records.ts";
import { exitQueue } from "../environments/queue/join-queue.ts";
import type { Identity } from "../identity/identity.ts";
import { lockUserForUpdate } from "../identity/local/users.ts";
import { endUnpaidOrdersOf } from "../payments/orders/end-unpaid-order.ts";

/**
 * Deletes an account as a whole or not at all (G71). What takes time comes after, by the loops that do it anyway:
 * containers end, files are deleted, refunds arrive. Orders and payments stay without a name, because the law wants
 * receipts kept. Locks are taken in the order of docs/internals/locking.md: the user, orders, environments, sign-ins.
 */
export async function eraseAccount(db: Db, identity: Identity, userId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockUserForUpdate(tx, userId);
    await endUnpaidOrdersOf(tx, userId);
    await endAll(tx, userId);
    await identity.deleteUser(userId, tx);
    await exitQueue(tx, userId);
    // Waits for whoever is writing about this user; whoever comes later sees the mark and writes nothing.
    await sql`select pg_advisory_xact_lock(hashtextextended(${userId}, 6))`.execute(tx);
    if (await isAccountDeleted(tx, userId)) return;
    await tx.insertInto("deleted_accounts").values({ user_id: userId }).execute();
    await releaseHomes(tx, userId);
    for (const table of ["receipts", "credit_notes"] as const)
      await tx
        .updateTable(table)
        .set({ document: sql`document || '{"customer_name": "", "customer_email": ""}'` })
        .where("user_id", "=", userId)
        .execute();
    const rented = tx.selectFrom("environments").select("id").where("user_id", "=", userId);
    for (const table of measured) await tx.deleteFrom(table).where("environment_id", "in", rented).execute();
    for (const table of gone) await tx.deleteFrom(table).where("user_id", "=", userId).execute();
  });
}

/** What their environments used, and when. */
const measured = ["samples", "gpu_samples", "activity"] as const;

/** What is only about the person. `endSessions` has told the gateway about the grants before. */
const gone = [
  "profiles",
  "user_flags",
  "queue_entries",
  "notifications",
  "mails",
  "support_tickets",
  "refund_requests",
  "sign_in_codes",
  "archive_codes",
  "grants",
  "share_links",
] as const;
