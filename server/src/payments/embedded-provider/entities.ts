import { randomInt } from "node:crypto";
import type { RowOf } from "../../database/database.ts";

export type OrderRow = RowOf<"embedded_gateway_orders">;
export type PaymentRow = RowOf<"embedded_gateway_payments">;
export type RefundRow = RowOf<"embedded_gateway_refunds">;
export type DisputeRow = RowOf<"embedded_gateway_disputes">;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Creates an id such as `order_` and 14 letters or digits, in the provider's format. */
export function dialectId(kind: "order" | "pay" | "rfnd" | "disp"): string {
  return `${kind}_${Array.from({ length: 14 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
}

export function orderEntity(row: OrderRow) {
  const paid = row.status === "paid" ? row.amount_minor : 0;
  return {
    id: row.id,
    entity: "order",
    amount: row.amount_minor,
    amount_paid: paid,
    amount_due: row.amount_minor - paid,
    currency: row.currency,
    receipt: row.receipt,
    status: row.status,
    offer_id: null,
    attempts: row.attempts,
    notes: notesOf(row),
    created_at: seconds(row.created_at),
  };
}

export function paymentEntity(row: PaymentRow) {
  const fullyRefunded = row.refunded_minor === row.amount_minor;
  return {
    id: row.id,
    entity: "payment",
    amount: row.amount_minor,
    currency: row.currency,
    // The provider has a fifth status for a payment that was refunded in full.
    status: fullyRefunded ? "refunded" : row.status,
    order_id: row.order_id,
    invoice_id: null,
    international: row.method === "card",
    method: row.method,
    captured: row.status === "captured",
    description: null,
    card_id: row.method === "card" ? `card_${row.id.slice(4)}` : null,
    bank: row.bank,
    wallet: row.wallet,
    vpa: row.vpa,
    ...(row.vpa && { upi: { vpa: row.vpa } }),
    email: null,
    contact: null,
    notes: [],
    amount_refunded: row.refunded_minor,
    refund_status: row.refunded_minor === 0 ? null : fullyRefunded ? "full" : "partial",
    card: row.method === "card" ? cardOf(row) : null,
    fee: row.status === "captured" ? 0 : null,
    tax: row.status === "captured" ? 0 : null,
    error_code: row.error_reason && "BAD_REQUEST_ERROR",
    error_description: row.error_description,
    error_source: row.error_reason && "bank",
    error_step: row.error_reason && "payment_authorization",
    error_reason: row.error_reason,
    acquirer_data: acquirerData[row.method],
    created_at: seconds(row.created_at),
  };
}

/** The field in which each method's bank has its number. */
const acquirerData = {
  card: { auth_code: null },
  upi: { rrn: null, upi_transaction_id: null },
  netbanking: { bank_transaction_id: null },
  wallet: { transaction_id: null },
};

function cardOf({ id, card_network: network, card_last4: last4 }: PaymentRow) {
  return {
    ...{ id: `card_${id.slice(4)}`, entity: "card", name: "", last4, network, type: "credit", issuer: null },
    ...{ international: true, emi: false, sub_type: "consumer", token_iin: null },
  };
}

/** Empty notes are an empty list, as the provider sends them. */
function notesOf({ notes }: Pick<OrderRow, "notes">): Readonly<Record<string, string>> | readonly [] {
  return Object.keys(notes).length > 0 ? notes : [];
}

export function refundEntity(row: RefundRow, currency: string, now: Date) {
  const arrived = row.arrives_at <= now;
  return {
    id: row.id,
    entity: "refund",
    amount: row.amount_minor,
    currency,
    payment_id: row.payment_id,
    notes: notesOf(row),
    receipt: row.receipt,
    batch_id: null,
    acquirer_data: { arn: arrived && !row.fails ? `test${row.id.slice(5)}` : null },
    status: !arrived ? "pending" : row.fails ? "failed" : "processed",
    speed_processed: "normal",
    speed_requested: row.speed,
    created_at: seconds(row.created_at),
  };
}

export function disputeEntity(row: DisputeRow, currency: string) {
  return {
    id: row.id,
    entity: "dispute",
    payment_id: row.payment_id,
    amount: row.amount_minor,
    currency,
    amount_deducted: row.deducted_minor,
    reason_code: row.reason_code,
    respond_by: seconds(row.respond_by),
    status: row.status,
    phase: row.phase,
    comments: null,
    evidence: null,
    created_at: seconds(row.created_at),
  };
}

export function collection<T>(items: readonly T[]) {
  return { entity: "collection", count: items.length, items };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
