import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { openChanges } from "../../database/changes.ts";
import { openDatabase } from "../../database/database.ts";
import { strictLog } from "../../logging/testing/record-log.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { startOrderPoller } from "../../payments/orders/order-poller.ts";
import { startPaymentSweep } from "../../payments/settlement/payment-sweep.ts";
import { startWebhookProcessor } from "../../payments/settlement/webhook-processor.ts";
import { setup } from "../../payments/testing/setup.ts";
import { databaseWithoutTables } from "../../testing/server-process.ts";
import { openArchive } from "./open-archive.ts";
import { restoreBackup } from "./restore-backup.ts";
import { setupBackup, trust, whyNoTools } from "./testing/setup-backup.ts";

const absent = await whyNoTools();

describe.skipIf(absent)(absent ? `payments, skipped because ${absent}` : "payments after the backup", () => {
  test("an order of the backup that was paid after it is settled; a payment of a later order is kept for the operator", async () => {
    const shop = await setup();
    const early = (await shop.order("ada")).body;
    const { env, file, folder, take } = await setupBackup(shop.db);
    await take(false);
    const { razorpay_payment_id: paidLater } = (await shop.pay(early.id)).body;
    const late = (await shop.order("ben")).body;
    const { razorpay_payment_id: orphan } = (await shop.pay(late.id)).body;

    const { url: DATABASE_URL, connection } = await databaseWithoutTables();
    const config = readConfig({ ...env, DATA_DIR: join(folder, "restored"), DATABASE_URL });
    await restoreBackup(config, () => openArchive(file), { homesLost: true, trust, progress: () => {} });
    const database = await openDatabase(connection, strictLog());
    const { db } = database;
    // The provider is outside: it knows what happened after the backup.
    const payments = { ...shop.payments, db, changes: await openChanges(database) };
    await sql`update orders set due_at = now()`.execute(db);
    const loops = [startOrderPoller(payments), startPaymentSweep(payments), startWebhookProcessor(payments)];
    onTestFinished(async () => {
      for (const loop of loops) await loop.stop();
      await database.close();
    });

    const settled = () => db.selectFrom("payments").select(["gateway_payment_id as id", "settles_order"]).execute();
    await expect.poll(settled).toEqual([{ id: paidLater, settles_order: true }]);
    expect(await db.selectFrom("orders").select(["user_id", "status"]).execute()).toEqual([
      { user_id: "ada", status: "paid" },
    ]);
    const events = () => db.selectFrom("gateway_events").select(["body", "last_error"]).execute();
    await expect
      .poll(async () => (await events()).find(({ body }) => body.includes(orphan))?.last_error)
      .toContain("belongs to no order of ours");
    expect(await brokenInvariants(db)).toEqual([]);
  });
});
