import type { TaxPart } from "./tax.ts";

/**
 * Content of a receipt, frozen as JSON in the transaction that settles its payment: later changes of names or of the order
 * do not affect it. Amounts in minor units of `currency`, the list price in US cents, times as ISO 8601.
 */
export interface ReceiptDocument {
  readonly number: string;
  readonly issued_at: string;
  /** Time of the order. */
  readonly created_at: string;
  /** Untrusted text; emptied when the account is deleted. */
  readonly customer_name: string;
  readonly customer_email: string;
  readonly gateway_payment_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly method: string | null;
  readonly card_network: string | null;
  readonly card_last4: string | null;
  /** Receipts of earlier versions lack it. */
  readonly paid_from?: string | null;
  readonly container_type: string;
  readonly gpu_count: number;
  /** What was rented; GPUs where it is missing, as in receipts of earlier versions (G307). */
  readonly unit?: "gpu" | "cpu";
  readonly duration_hours: number;
  readonly subdomain: string;
  readonly usd_minor: number;
  readonly inr_paise_per_usd: number;
  readonly mode: string;
  /** Null without a GSTIN, and for a payment that bought nothing, which is no supply. */
  readonly tax: TaxPart | null;
}

/** Content of a credit note, frozen in the transaction that books the refund: the receipt's content and its own. */
export interface CreditNoteDocument extends ReceiptDocument {
  readonly credited_minor: number;
  /** As in `refunds.reason`. */
  readonly reason: string;
  readonly receipt_number: string;
  readonly receipt_issued_at: string;
  readonly receipt_serial: string | null;
  readonly gateway_refund_id: string | null;
  /** The bank's reference, if it was known then. */
  readonly arn: string | null;
}
