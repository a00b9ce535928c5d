import type { ColumnType, Generated, GeneratedAlways } from "kysely";

/** JSON that belongs to the code that writes it. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is the writer's, further right
type Document = ColumnType<any, string, string>;

export interface OrdersTable {
  id: string;
  user_id: string;
  status: "draft" | "open" | "cancelled" | "expired" | "paid" | "fulfilled" | "refunding" | "refunded";
  container_type: "jupyter" | "pytorch" | "tensorflow";
  subdomain: string;
  gpu_count: number;
  duration_hours: number;
  usd_minor: number;
  amount_minor: number;
  currency: "USD" | "INR";
  inr_paise_per_usd: number;
  gateway: string;
  mode: "embedded" | "test" | "live";
  gateway_order_id: string | null;
  request_hash: string;
  /** The environment that it buys more hours for; null launches one. */
  extends: string | null;
  created_at: Generated<Date>;
  hold_until: Date;
  watch_until: Date;
  paid_at: Date | null;
  deliver_by: Date | null;
  closed_at: Date | null;
  usd_net_minor: Generated<number>;
  hours: Generated<number>;
  next_check_at: Date | null;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

export interface PaymentsTable {
  id: string;
  order_id: string;
  user_id: string;
  gateway: string;
  gateway_payment_id: string;
  status: "created" | "failed" | "authorized" | "captured";
  rank: GeneratedAlways<number>;
  settles_order: Generated<boolean>;
  amount_minor: number;
  currency: string;
  refund_minor: Generated<number>;
  method: string | null;
  card_network: string | null;
  card_last4: string | null;
  fee_minor: number | null;
  error_code: string | null;
  error_reason: string | null;
  created_at: Generated<Date>;
  captured_at: Date | null;
}

export interface RefundsTable {
  id: string;
  payment_id: string;
  amount_minor: number;
  currency: string;
  reason: string;
  /** `waived`: the card holder's bank has taken the same money back already. */
  status: "queued" | "sent" | "processed" | "failed" | "waived";
  gateway_refund_id: string | null;
  arn: string | null;
  created_at: Generated<Date>;
  processed_at: Date | null;
  next_check_at: Date | null;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

export interface DisputesTable {
  id: string;
  gateway: string;
  gateway_dispute_id: string;
  payment_id: string;
  user_id: string;
  status: "open" | "under_review" | "won" | "lost" | "closed";
  phase: string;
  reason_code: string | null;
  amount_minor: number;
  currency: string;
  lost_minor: Generated<number>;
  counted_minor: Generated<number>;
  respond_by: Date | null;
  created_at: Date;
  closed_at: Date | null;
}

export interface RefundRequestsTable {
  id: string;
  order_id: string;
  user_id: string;
  reason: "partial_downtime" | "accidental_termination" | "maintenance" | "other" | "silent";
  text: string;
  status: Generated<"open" | "granted" | "declined">;
  created_at: Generated<Date>;
  decided_at: Date | null;
  answer: Generated<string>;
  refund_id: string | null;
}

interface AccountHoldsTable {
  user_id: string;
  dispute_id: string;
  held_at: Generated<Date>;
  lifted_at: Date | null;
}

interface ReceiptsTable {
  payment_id: string;
  number: string;
  user_id: string;
  issued_at: Generated<Date>;
  /** `ReceiptDocument` of payments/documents.ts. */
  document: Document;
  tax_series: string | null;
  tax_year: number | null;
  tax_no: number | null;
}

interface CreditNotesTable {
  number: string;
  refund_id: string;
  payment_id: string;
  user_id: string;
  amount_minor: number;
  issued_at: Generated<Date>;
  /** `CreditNoteDocument` of payments/documents.ts. */
  document: Document;
  tax_series: string | null;
  tax_year: number | null;
  tax_no: number | null;
}

interface InvoiceSeriesTable {
  series: string;
  year: number;
  next_no: number;
}

interface TimeCreditsTable {
  id: string;
  user_id: string;
  order_id: string;
  gpu_hours: number;
  reason: string;
  granted_at: Generated<Date>;
  used_by_order: string | null;
}

export interface GatewayEventsTable {
  gateway: string;
  event_id: string;
  event: string;
  body: Buffer;
  received_at: Generated<Date>;
  processed_at: Date | null;
  next_check_at: Generated<Date | null>;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

interface GatewaySweepsTable {
  key_id: string;
  swept_until: Date;
  next_at: Generated<Date>;
}

export interface JournalTable {
  id: string;
  kind:
    | "capture"
    | "fee"
    | "refund_asked"
    | "refund_failed"
    | "refund_arrived"
    | "external_refund"
    | "session_over"
    | "dispute_lost"
    | "refund_waived";
  source_id: string;
  at: Generated<Date>;
}

export interface JournalLinesTable {
  entry_id: string;
  account: "gateway" | "prepaid" | "revenue" | "refunds_payable" | "fees" | "disputes";
  order_id: string;
  currency: string;
  amount_minor: number;
}

export interface PaymentTables {
  orders: OrdersTable;
  payments: PaymentsTable;
  refunds: RefundsTable;
  disputes: DisputesTable;
  account_holds: AccountHoldsTable;
  refund_requests: RefundRequestsTable;
  receipts: ReceiptsTable;
  credit_notes: CreditNotesTable;
  invoice_series: InvoiceSeriesTable;
  time_credits: TimeCreditsTable;
  gateway_events: GatewayEventsTable;
  gateway_sweeps: GatewaySweepsTable;
  journal: JournalTable;
  journal_lines: JournalLinesTable;
}
