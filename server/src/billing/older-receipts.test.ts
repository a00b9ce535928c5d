import { expect, test } from "vitest";
import { openDatabase } from "../database/database.ts";
import { databaseBefore } from "../database/testing.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { brokenInvariants } from "../payments/ledger/invariants.ts";
import { readCreditNote, readReceipt } from "./read-receipt.ts";

test("older receipts keep their content, and refunds that had arrived get their credit notes", async () => {
  const { client, connection } = await databaseBefore("0012");
  await client.query(`
    insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
        currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, created_at, hold_until, watch_until, paid_at)
      values ('o', 'ada', 'fulfilled', 'jupyter', 'lab', 2, 6, 240, 21200, 'INR', 8822, 'embedded', 'test', 'order_1', '',
        '2026-11-01T10:00:00Z', now(), now(), now());
    insert into payments (id, order_id, user_id, gateway, gateway_payment_id, status, settles_order, amount_minor, currency,
        refund_minor, method, card_network, card_last4)
      values ('abcdefghijklmn', 'o', 'ada', 'embedded', 'pay_1', 'captured', true, 21200, 'INR', 700, 'card', 'Visa', '1111');
    insert into receipts (payment_id, number, user_id, customer_name, customer_email, issued_at)
      values ('abcdefghijklmn', 'INV-abcdefghijk', 'ada', 'Ada "Byte" O''Neil', 'ada@example.com', '2026-11-01T10:05:00Z');
    insert into refunds (id, payment_id, amount_minor, currency, reason, status, gateway_refund_id, arn, processed_at, next_check_at)
      values ('r1', 'abcdefghijklmn', 500, 'INR', 'hardware', 'processed', 'rfnd_1', '7433', '2026-11-02T00:00:00Z', null),
        ('r2', 'abcdefghijklmn', 200, 'INR', 'external', 'queued', null, null, null, now());`);
  await client.end();
  const { db, close } = await openDatabase(connection, silentLogger);
  expect(await readReceipt(db, "ada", "INV-abcdefghijk")).toMatchObject({
    ...{ customer_name: 'Ada "Byte" O\'Neil', customer_email: "ada@example.com", amount_minor: 21200, currency: "INR" },
    ...{
      subdomain: "lab",
      gpu_count: 2,
      usd_minor: 240,
      mode: "test",
      card_last4: "1111",
      tax: null,
      refund_minor: 700,
    },
    ...{ issued_at: new Date("2026-11-01T10:05:00Z"), created_at: new Date("2026-11-01T10:00:00Z") },
    refunds: [{ amount_minor: 500 }, { amount_minor: 200 }],
  });
  const notes = await db.selectFrom("credit_notes").select(["number", "refund_id"]).execute();
  expect(notes).toEqual([{ number: expect.stringMatching(/^CRN-[0-9a-f]{11}$/), refund_id: "r1" }]);
  expect(await readCreditNote(db, "ada", notes[0]?.number ?? "")).toMatchObject({
    ...{ number: notes[0]?.number, credited_minor: 500, reason: "hardware", arn: "7433", gateway_refund_id: "rfnd_1" },
    ...{
      receipt_number: "INV-abcdefghijk",
      customer_email: "ada@example.com",
      issued_at: new Date("2026-11-02T00:00:00Z"),
    },
  });
  const papers = "every captured payment has a receipt, every processed refund a credit note";
  expect((await brokenInvariants(db)).map(({ invariant }) => invariant)).not.toContain(papers);
  await close();
});
