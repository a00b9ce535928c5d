import { createHmac } from "node:crypto";
import type { Insertable } from "kysely";
import * as z from "zod";
import type { Db, Tx } from "../../database/database.ts";
import type { Tables } from "../../database/tables.ts";
import { isFutureExpiry, type TestCard, testCard } from "./cards.ts";
import { DialectError } from "./dialect-error.ts";
import { dialectId, type OrderRow, orderEntity, type PaymentRow, paymentEntity } from "./entities.ts";
import { chooseOutcome, failureOf, lateMs } from "./outcomes.ts";
import { dialectIdText } from "./read-input.ts";
import { queueWebhook } from "./webhook-sender.ts";

export const chargeBody = z.object({
  key_id: z.string().max(64),
  order_id: dialectIdText,
  method: z.literal("card"),
  card: z.object({
    number: z.string().max(32),
    cvv: z.string().max(8),
    expiry_month: z.string().max(2),
    expiry_year: z.string().max(4),
  }),
});

export interface MerchantAccount {
  readonly keyId: string;
  readonly keySecret: string;
  /** Signs webhooks, and nothing else. */
  readonly webhookSecret: string;
}

/** Proof of payment that the dialog passes to the merchant's page, for `create`. */
export interface Proof {
  readonly razorpay_payment_id: string;
  readonly razorpay_order_id: string;
  readonly razorpay_signature: string;
}

/**
 * One attempt to pay an order with a test card. A failing card leaves a failed payment, as at Razorpay. Throws
 * `DialectError`.
 */
export async function charge(db: Db, account: MerchantAccount, request: z.output<typeof chargeBody>): Promise<Proof> {
  const card = readCard(account, request);
  const orderId = request.order_id;
  const { paymentId, fails, isDismissed } = await db.transaction().execute((tx) => attempt(tx, orderId, card));
  const metadata = { order_id: orderId, ...(paymentId && { payment_id: paymentId }) };
  if (fails) {
    const { reason, description } = fails;
    throw new DialectError(description, { source: "customer", step: "payment_authorization", reason, metadata });
  }
  // The dialog closes on this reason, without a proof.
  if (isDismissed || !paymentId)
    throw new DialectError("The dialog was closed", { source: "customer", reason: "payment_dismissed", metadata });
  const signature = createHmac("sha256", account.keySecret).update(`${orderId}|${paymentId}`).digest("hex");
  return { razorpay_payment_id: paymentId, razorpay_order_id: orderId, razorpay_signature: signature };
}

function readCard({ keyId }: MerchantAccount, { key_id, card: given }: z.output<typeof chargeBody>): TestCard {
  if (key_id !== keyId) throw new DialectError("The api key provided is invalid");
  const card = testCard(given.number);
  if (!card)
    throw new DialectError("Only test cards work here. No money moves in test mode.", {
      reason: "invalid_card_number",
    });
  if (!/^\d{3,4}$/.test(given.cvv))
    throw new DialectError("The card's CVV is 3 or 4 digits", { reason: "invalid_cvv" });
  if (!isFutureExpiry(given.expiry_month, given.expiry_year, new Date()))
    throw new DialectError("The card's expiry is not a month in the future", { reason: "card_expired" });
  return card;
}

interface Attempt {
  /** Absent when no payment was attempted. */
  readonly paymentId?: string;
  readonly fails?: TestCard["fails"];
  readonly isDismissed?: boolean;
}

const bankIsLate = { reason: "payment_timed_out", description: "The test bank did not answer in time." };
const ofPayment = ["dismissed", "dismissed_paid", "authorised_late", "captured_twice"];

async function attempt(tx: Tx, orderId: string, card: TestCard): Promise<Attempt> {
  const order = await tx
    .selectFrom("embedded_gateway_orders")
    .selectAll()
    .where("id", "=", orderId)
    .forUpdate()
    .executeTakeFirst();
  if (!order) throw new DialectError("The id provided does not exist");
  if (order.status === "paid") throw new DialectError("The order is already paid", { reason: "order_already_paid" });
  const failure = failureOf(order.outcome);
  const once = failure || ofPayment.includes(order.outcome ?? "") ? order.outcome : null;
  if (once) await chooseOutcome(tx, orderId, "success");
  if (once === "dismissed") return { isDismissed: true };
  const isLate = once === "authorised_late";
  const fails = failure ?? (isLate ? bankIsLate : card.fails);
  const captured = order.capture === "automatic" && !fails;
  const attempted = await tx
    .updateTable("embedded_gateway_orders")
    .set({ status: captured ? "paid" : "attempted", attempts: order.attempts + 1 })
    .where("id", "=", orderId)
    .returningAll()
    .executeTakeFirstOrThrow();
  const pay = () =>
    insertPayment(tx, order, {
      status: fails ? "failed" : captured ? "captured" : "authorized",
      card_network: card.network,
      card_last4: card.number.slice(-4),
      error_reason: fails?.reason ?? null,
      error_description: fails?.description ?? null,
      authorizes_at: isLate ? new Date(Date.now() + lateMs) : null,
    });
  const row = await pay();
  const payment = paymentEntity(row);
  if (captured) await queueWebhook(tx, { event: "order.paid", entities: { payment, order: orderEntity(attempted) } });
  if (once === "captured_twice") await pay();
  return { paymentId: row.id, fails, isDismissed: once === "dismissed_paid" };
}

async function insertPayment(
  tx: Tx,
  { id: order_id, amount_minor, currency }: OrderRow,
  what: Omit<Insertable<Tables["embedded_gateway_payments"]>, "id" | "order_id" | "amount_minor" | "currency">,
): Promise<PaymentRow> {
  const row = await tx
    .insertInto("embedded_gateway_payments")
    .values({ id: dialectId("pay"), order_id, amount_minor, currency, ...what })
    .returningAll()
    .executeTakeFirstOrThrow();
  await queueWebhook(tx, { event: `payment.${row.status}`, entities: { payment: paymentEntity(row) } });
  return row;
}
