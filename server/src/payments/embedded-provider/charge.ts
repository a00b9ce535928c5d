import { createHmac } from "node:crypto";
import type { Insertable } from "kysely";
import * as z from "zod";
import type { Db, Tx } from "../../database/database.ts";
import type { Tables } from "../../database/tables.ts";
import { isFutureExpiry, testCard } from "./cards.ts";
import { DialectError } from "./dialect-error.ts";
import { dialectId, type OrderRow, orderEntity, type PaymentRow, paymentEntity } from "./entities.ts";
import { chooseOutcome, failureOf, lateMs } from "./outcomes.ts";
import { dialectIdText } from "./read-input.ts";
import {
  approvalMs,
  expiryMs,
  type Failure,
  type TestAccount,
  testBanks,
  testVpas,
  testWallets,
} from "./test-methods.ts";
import { queueWebhook } from "./webhook-sender.ts";

const accountId = z.string().max(64);
const ofOrder = { key_id: z.string().max(64), order_id: dialectIdText };
export const chargeBody = z.discriminatedUnion("method", [
  z.object({
    ...ofOrder,
    method: z.literal("card"),
    card: z.object({
      number: z.string().max(32),
      cvv: z.string().max(8),
      expiry_month: z.string().max(2),
      expiry_year: z.string().max(4),
    }),
  }),
  z.object({ ...ofOrder, method: z.literal("upi"), vpa: accountId }),
  z.object({ ...ofOrder, method: z.literal("netbanking"), bank: accountId }),
  z.object({ ...ofOrder, method: z.literal("wallet"), wallet: accountId }),
]);
type Charge = z.output<typeof chargeBody>;

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

/** A payment that waits for its buyer's approval; the dialog asks for its status. */
interface Waiting {
  readonly type: "async";
  readonly method: "upi";
  readonly payment_id: string;
}

/**
 * One attempt to pay an order with a test card or, in rupees, by another method of the country. A failing one leaves a
 * failed payment, as at Razorpay. Throws `DialectError`.
 */
export async function charge(db: Db, account: MerchantAccount, request: Charge): Promise<Proof | Waiting> {
  if (request.key_id !== account.keyId) throw new DialectError("The api key provided is invalid");
  const means = readMeans(request);
  const orderId = request.order_id;
  const { row, isDismissed } = await db.transaction().execute((tx) => attempt(tx, orderId, means));
  // The dialog closes on this reason, without a proof.
  if (isDismissed || !row)
    throw new DialectError("The dialog was closed", {
      ...{ source: "customer", reason: "payment_dismissed" },
      metadata: { order_id: orderId, ...(row && { payment_id: row.id }) },
    });
  if (row.status === "created") return { type: "async", method: "upi", payment_id: row.id };
  return proofOf(account, row);
}

/** The proof of a payment that succeeded. Throws the `DialectError` of one that failed. */
function proofOf({ keySecret }: MerchantAccount, row: PaymentRow): Proof {
  const { id, order_id: orderId, error_reason: reason, error_description: description } = row;
  if (row.status === "failed")
    throw new DialectError(description ?? "The payment failed", {
      ...{ source: "customer", step: "payment_authorization", metadata: { order_id: orderId, payment_id: id } },
      ...(reason && { reason }),
    });
  const signature = createHmac("sha256", keySecret).update(`${orderId}|${id}`).digest("hex");
  return { razorpay_payment_id: id, razorpay_order_id: orderId, razorpay_signature: signature };
}

/** What became of a payment that waited, for the dialog that began it. */
export async function statusOf(
  db: Db,
  account: MerchantAccount,
  { id, key_id, order_id }: { readonly id: string; readonly key_id: string; readonly order_id: string },
): Promise<Proof | { readonly status: "created" }> {
  const payments = db.selectFrom("embedded_gateway_payments").selectAll().where("order_id", "=", order_id);
  const row = key_id === account.keyId ? await payments.where("id", "=", id).executeTakeFirst() : undefined;
  if (!row) throw new DialectError("The id provided does not exist");
  return row.status === "created" ? { status: "created" } : proofOf(account, row);
}

/** What pays, as it stands in the row of its payment. */
interface Means extends Pick<TestAccount, "fails" | "waits"> {
  readonly columns: Pick<Insertable<Tables["embedded_gateway_payments"]>, "card_network" | "card_last4"> & {
    readonly method: Charge["method"];
    readonly vpa?: string;
    readonly bank?: string;
    readonly wallet?: string;
  };
}

function readMeans(request: Charge): Means {
  const { method } = request;
  if (method === "card") return readCard(request.card);
  if (method === "upi") {
    const { id: vpa, ...result } = accepted(testVpas, request.vpa.trim().toLowerCase(), "invalid_vpa");
    return { columns: { method, vpa }, ...result };
  }
  if (method === "netbanking") {
    const { id: bank, ...result } = accepted(testBanks, request.bank, "invalid_bank");
    return { columns: { method, bank }, ...result };
  }
  const { id: wallet, ...result } = accepted(testWallets, request.wallet, "invalid_wallet");
  return { columns: { method, wallet }, ...result };
}

function accepted(accounts: readonly TestAccount[], id: string, reason: string): TestAccount {
  const account = accounts.find((each) => each.id === id);
  if (account) return account;
  const names = accounts.map((each) => each.id).join(", ");
  throw new DialectError(`No money moves in test mode. Only these work here: ${names}.`, { reason });
}

function readCard(given: Extract<Charge, { readonly method: "card" }>["card"]): Means {
  const card = testCard(given.number);
  if (!card)
    throw new DialectError("Only test cards work here. No money moves in test mode.", {
      reason: "invalid_card_number",
    });
  if (!/^\d{3,4}$/.test(given.cvv))
    throw new DialectError("The card's CVV is 3 or 4 digits", { reason: "invalid_cvv" });
  if (!isFutureExpiry(given.expiry_month, given.expiry_year, new Date()))
    throw new DialectError("The card's expiry is not a month in the future", { reason: "card_expired" });
  const { network, number, fails } = card;
  return {
    columns: { method: "card", card_network: network, card_last4: number.slice(-4) },
    ...(fails && { fails }),
  };
}

interface Attempt {
  /** Absent when no payment was attempted. */
  readonly row?: PaymentRow;
  readonly isDismissed?: boolean;
}

const bankIsLate: Failure = { reason: "payment_timed_out", description: "The test bank did not answer in time." };
const ofPayment = ["dismissed", "dismissed_paid", "authorised_late", "captured_twice"];

async function attempt(tx: Tx, orderId: string, means: Means): Promise<Attempt> {
  const order = await lockOrder(tx, orderId);
  if (means.columns.method !== "card" && order.currency !== "INR")
    throw new DialectError("This method of payment is for orders in INR only", { reason: "currency_not_supported" });
  const failure = failureOf(order.outcome);
  const once = failure || ofPayment.includes(order.outcome ?? "") ? order.outcome : null;
  if (once) await chooseOutcome(tx, orderId, "success");
  if (once === "dismissed") return { isDismissed: true };
  const isLate = once === "authorised_late";
  const fails = failure ?? (isLate ? bankIsLate : means.fails);
  const waits = fails ? undefined : means.waits;
  const captured = order.capture === "automatic" && !fails && !waits;
  const attempted = await tx
    .updateTable("embedded_gateway_orders")
    .set({ status: captured ? "paid" : "attempted", attempts: order.attempts + 1 })
    .where("id", "=", orderId)
    .returningAll()
    .executeTakeFirstOrThrow();
  const pay = () =>
    insertPayment(tx, order, {
      ...means.columns,
      ...(fails ? failed(fails) : waits ? waiting[waits]() : { status: captured ? "captured" : "authorized" }),
      ...(isLate && { authorizes_at: inMs(lateMs) }),
    });
  const row = await pay();
  const payment = paymentEntity(row);
  if (captured) await queueWebhook(tx, { event: "order.paid", entities: { payment, order: orderEntity(attempted) } });
  if (once === "captured_twice") await pay();
  return { row, isDismissed: once === "dismissed_paid" };
}

function failed({ reason, description }: Failure) {
  return { status: "failed", error_reason: reason, error_description: description } as const;
}

const waiting = {
  approved: () => ({ status: "created", authorizes_at: inMs(approvalMs) }) as const,
  unanswered: () => ({ status: "created", expires_at: inMs(expiryMs) }) as const,
};

async function lockOrder(tx: Tx, id: string): Promise<OrderRow> {
  const orders = tx.selectFrom("embedded_gateway_orders").selectAll().where("id", "=", id).forUpdate();
  const order = await orders.executeTakeFirst();
  if (!order) throw new DialectError("The id provided does not exist");
  if (order.status === "paid") throw new DialectError("The order is already paid", { reason: "order_already_paid" });
  return order;
}

function inMs(ms: number): Date {
  return new Date(Date.now() + ms);
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
  // A payment that only begins is not told, as at Razorpay.
  if (row.status !== "created")
    await queueWebhook(tx, { event: `payment.${row.status}`, entities: { payment: paymentEntity(row) } });
  return row;
}
