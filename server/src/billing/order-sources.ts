import type { EndedReason } from "@berth/contract";
import type { RowOf } from "../database/database.ts";

/** An order with the environment that it launched or extended, and the newest session of that. */
export interface FoundOrder extends RowOf<"orders"> {
  readonly environment_id: string | null;
  readonly ready_at: Date | null;
  readonly terminated_at: Date | null;
  readonly ended_reason: EndedReason | null;
  readonly session_id: string | null;
  readonly now: Date;
}

export type Attempt = RowOf<"payments">;
export type Refund = RowOf<"refunds">;
export type Dispute = RowOf<"disputes">;
export type RefundRequest = RowOf<"refund_requests">;

export interface Credit {
  /** The order whose failure or refund gave it; null for an operator's and a voucher's. */
  readonly order_id: string | null;
  readonly gpu_hours: number;
  readonly granted_at: Date;
  readonly used_by_order: string | null;
}

export interface Extension {
  readonly id: string;
  readonly duration_hours: number;
  readonly paid_at: Date;
}

/** All data of one order, from our own tables. */
export interface OrderSources {
  readonly order: FoundOrder;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  /** Oldest first. */
  readonly refunds: readonly Refund[];
  /** Oldest first. */
  readonly disputes: readonly Dispute[];
  /** Oldest first. */
  readonly requests: readonly RefundRequest[];
  /** Numbers, oldest first. */
  readonly creditNotes: readonly string[];
  /** Granted for this order, or used by it. */
  readonly credits: readonly Credit[];
  /** Orders that added hours to what this one launched. */
  readonly extensions: readonly Extension[];
}
