import type { TaxPart } from "./tax.ts";

/**
 * What a receipt says, frozen as JSON in the transaction that settles its payment: whatever people call
 * themselves later, and whatever becomes of the order. Amounts in minor units of `currency`, the list price in US cents,
 * times as ISO 8601.
 */
export interface ReceiptDocument {
  readonly number: string;
  readonly issued_at: string;
  /** When it was ordered. */
  readonly created_at: string;
  /** Anything a person may type; emptied when the account is deleted. */
  readonly customer_name: string;
  readonly customer_email: string;
  readonly gateway_payment_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly method: string | null;
  readonly card_network: string | null;
  readonly card_last4: string | null;
  readonly container_type: string;
  readonly gpu_count: number;
  readonly duration_hours: number;
  readonly subdomain: string;
  readonly usd_minor: number;
  readonly inr_paise_per_usd: number;
  readonly mode: string;
  /** Null without a GSTIN, and for a payment that bought nothing: that is no supply. */
  readonly tax: TaxPart | null;
}

/** What a credit note says, frozen in the transaction that books the refund: its receipt's words, and what is its own. */
export interface CreditNoteDocument extends ReceiptDocument {
  readonly credited_minor: number;
  /** Why, as in `refunds.reason`. */
  readonly reason: string;
  readonly receipt_number: string;
  readonly receipt_issued_at: string;
  readonly receipt_serial: string | null;
  readonly gateway_refund_id: string | null;
  /** The bank's reference, as far as it was known then. */
  readonly arn: string | null;
}
