import { sql } from "kysely";
import { expect, test } from "vitest";
import { liftAccountHold } from "../../payments/disputes/lift-account-hold.ts";
import { recordDispute } from "../../payments/disputes/record-dispute.ts";
import type { ProviderDispute } from "../../payments/provider/provider.ts";
import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { setup } from "../../payments/testing/setup.ts";
import { examine } from "./diagnose.ts";

test("without faults every check is empty; broken invariants and stuck work are listed", async () => {
  const { db, order, pay, payments, provider } = await setup();
  const { id } = (await order("ada")).body;
  await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
  const found = async () => (await examine(db)).flatMap(({ kind, rows }) => rows.map(() => kind));
  expect(await found()).toEqual([]);

  await sql`insert into refunds (id, payment_id, amount_minor, currency, reason, status, due_at, last_error)
    select 'r', id, 40, 'USD', 'hardware', 'failed', now(), 'no balance' from payments`.execute(db);
  await sql`insert into gateway_events (gateway, event_id, event, body, attempts) values ('embedded', 'e', 'payment.captured', 'x', 20)`.execute(
    db,
  );
  await sql`update orders set attempts = 20`.execute(db);
  await sql`update payments set refund_minor = 1`.execute(db);
  expect(await found()).toEqual(["broken_invariants", "refunds_stuck", "webhooks_stuck", "orders_stuck"]);
  const [broken, failed] = await examine(db);
  expect(broken?.rows[0]).toContain("a payment's refunded sum is that of its refunds");
  expect(failed?.rows[0]).toMatch(/^r pay_\w+ \$0.40 hardware failed, 0m old, 0 tries: no balance$/);
  await sql`update payments set refund_minor = 0`.execute(db);
});

test("a payment of an unknown order is found by the sweep, stored, retried, and listed after twenty tries", async () => {
  const { db, addPayment, provider, payments, runPaymentSweep, runWebhookProcessor } = await setup();
  const { id } = await provider.createOrder({ receipt: "a-stranger", amountMinor: 40, currency: "USD", notes: {} });
  const orphan = await addPayment(id);
  runWebhookProcessor();
  runPaymentSweep();
  const event = () => db.selectFrom("gateway_events").selectAll().executeTakeFirst();
  await expect.poll(async () => (await event())?.last_error).toContain("belongs to no order of ours");
  expect(await event()).toMatchObject({ processed_at: null, event: "payment.swept" });
  const listed = async () => (await examine(db)).flatMap(({ rows }) => rows);
  expect(await listed()).toEqual([]);
  await sql`update gateway_events set attempts = 19, due_at = now(), lease_token = null, lease_expires_at = null`.execute(
    db,
  );
  await expect.poll(listed, { timeout: 10_000 }).toEqual([expect.stringContaining(orphan)]);
  expect(await db.selectFrom("payments").selectAll().execute()).toEqual([]);
  expect(payments.provider.keyId).toBe(
    (await db.selectFrom("gateway_sweeps").select("key_id").executeTakeFirst())?.key_id,
  );
});

test("an open dispute, the refund it holds back, and the account that lost one are listed", async () => {
  const { db, order, addPayment, payments, provider } = await setup();
  const { id } = (await order("ada")).body;
  const payment = await addPayment(id, { amount_minor: 39 });
  await settlePayment(payments, await provider.payment(payment));
  const dispute: ProviderDispute = {
    ...{ id: "disp_1", paymentId: payment, amountMinor: 30, currency: "USD", deductedMinor: 0, status: "open" },
    ...{ phase: "chargeback", reasonCode: null, respondBy: new Date("2027-01-02T03:04:05Z"), createdAt: new Date() },
  };
  await recordDispute(payments, dispute);
  const rows = async () => (await examine(db)).flatMap((finding) => finding.rows);
  expect(await rows()).toEqual([
    `disp_1 ${payment} $0.30 chargeback open, answer by Jan 2, 2027, 3:04 AM UTC, holds back a refund of $0.39`,
  ]);
  await recordDispute(payments, { ...dispute, status: "lost", deductedMinor: 30 });
  expect(await rows()).toEqual(["ada lost disp_1: $0.30"]);
  expect(await liftAccountHold(db, "ada", { actor: "cli:test", reason: "" })).toBe(1);
  expect(await rows()).toEqual([]);
});
