import type { ColumnType, Generated } from "kysely";

/** The embedded payment gateway's own tables: nothing outside payments/embedded-gateway reads them. */
interface EmbeddedGatewayAccountTable {
  one: Generated<boolean>;
  key_id: string;
  key_secret: string;
  webhook_secret: string | null;
  created_at: Generated<Date>;
}

export interface EmbeddedGatewayOrdersTable {
  id: string;
  receipt: string | null;
  amount_minor: number;
  currency: string;
  capture: "automatic" | "manual";
  status: Generated<"created" | "attempted" | "paid">;
  attempts: Generated<number>;
  notes: ColumnType<Record<string, string>, string, string>;
  /** Chosen by a person or a test: see outcomes.ts. */
  outcome: string | null;
  created_at: Generated<Date>;
}

export interface EmbeddedGatewayPaymentsTable {
  id: string;
  order_id: string;
  amount_minor: number;
  currency: string;
  status: "created" | "authorized" | "captured" | "failed";
  refunded_minor: Generated<number>;
  card_network: string;
  card_last4: string;
  error_reason: string | null;
  error_description: string | null;
  authorizes_at: Date | null;
  created_at: Generated<Date>;
}

export interface EmbeddedGatewayRefundsTable {
  id: string;
  payment_id: string;
  amount_minor: number;
  idempotency_key: string | null;
  receipt: string | null;
  speed: Generated<"normal" | "optimum">;
  notes: ColumnType<Record<string, string>, string, string>;
  created_at: Generated<Date>;
  arrives_at: Date;
  fails: Generated<boolean>;
}

export interface EmbeddedGatewayDisputesTable {
  id: string;
  payment_id: string;
  amount_minor: number;
  deducted_minor: Generated<number>;
  reason_code: string;
  phase: string;
  status: Generated<"open" | "under_review" | "won" | "lost" | "closed">;
  respond_by: Generated<Date>;
  created_at: Generated<Date>;
}

interface EmbeddedGatewayWebhooksTable {
  id: string;
  body: string;
  created_at: Generated<Date>;
  next_try_at: Generated<Date>;
  attempts: Generated<number>;
  times: Generated<number>;
}

export interface EmbeddedGatewayTables {
  embedded_gateway_account: EmbeddedGatewayAccountTable;
  embedded_gateway_orders: EmbeddedGatewayOrdersTable;
  embedded_gateway_payments: EmbeddedGatewayPaymentsTable;
  embedded_gateway_refunds: EmbeddedGatewayRefundsTable;
  embedded_gateway_disputes: EmbeddedGatewayDisputesTable;
  embedded_gateway_webhooks: EmbeddedGatewayWebhooksTable;
}
