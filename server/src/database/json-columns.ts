/** Where a running environment answers; only a driver says so. */
export type Address = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/** The shape of every JSON column. The database keeps it as text that its writer made. */
export interface JsonColumns {
  "credit_notes.document": Document;
  "embedded_gateway_orders.notes": Record<string, string>;
  "embedded_gateway_refunds.notes": Record<string, string>;
  "environments.endpoint": Address;
  "identity_key.public_jwk": Record<string, unknown>;
  "processes.settings": Document;
  "receipts.document": Document;
}

/** `CreditNoteDocument`, `ProcessSettings` and `ReceiptDocument` stand with their writers, further right. */
// biome-ignore lint/suspicious/noExplicitAny: the writer knows the shape
type Document = any;
