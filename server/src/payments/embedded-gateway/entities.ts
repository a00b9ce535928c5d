import { randomInt } from "node:crypto";
import type { Selectable } from "kysely";
import type {
  EmbeddedGatewayDisputesTable,
  EmbeddedGatewayOrdersTable,
  EmbeddedGatewayPaymentsTable,
  EmbeddedGatewayRefundsTable,
} from "../../database/embedded-gateway-tables.ts";

export type OrderRow = Selectable<EmbeddedGatewayOrdersTable>;
export type PaymentRow = Selectable<EmbeddedGatewayPaymentsTable>;
export type RefundRow = Selectable<EmbeddedGatewayRefundsTable>;
export type DisputeRow = Selectable<EmbeddedGatewayDisputesTable>;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `order_` and 14 letters or digits, as the provider writes ids. */
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
    attempts: row.attempts,
    notes: row.notes,
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
    // The provider has a fifth word for a payment that went back whole.
    status: fullyRefunded ? "refunded" : row.status,
    order_id: row.order_id,
    method: "card",
    captured: row.status === "captured",
    amount_refunded: row.refunded_minor,
    refund_status: row.refunded_minor === 0 ? null : fullyRefunded ? "full" : "partial",
    card: { entity: "card", network: row.card_network, last4: row.card_last4, type: "credit", international: true },
    fee: row.status === "captured" ? 0 : null,
    error_code: row.error_reason && "BAD_REQUEST_ERROR",
    error_description: row.error_description,
    error_reason: row.error_reason,
    created_at: seconds(row.created_at),
  };
}

export function refundEntity(row: RefundRow, currency: string, now: Date) {
  const arrived = row.arrives_at <= now;
  return {
    id: row.id,
    entity: "refund",
    amount: row.amount_minor,
    currency,
    payment_id: row.payment_id,
    notes: row.notes,
    receipt: row.receipt,
    acquirer_data: { arn: arrived && !row.fails ? `test${row.id.slice(5)}` : null },
    status: !arrived ? "pending" : row.fails ? "failed" : "processed",
    speed_processed: "normal",
    speed_requested: "normal",
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
    created_at: seconds(row.created_at),
  };
}

export function collection<T>(items: readonly T[]) {
  return { entity: "collection", count: items.length, items };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
