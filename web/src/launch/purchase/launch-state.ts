import type { ErrorCode, MoneyState, Status } from "@berth/contract";
import type { Step } from "../draft/draft.ts";

/** One launch as the page shows it. Times are milliseconds since the epoch, by this browser's clock. */
export type LaunchState =
  | { readonly phase: "idle"; readonly problem?: Problem | undefined }
  | { readonly phase: "ordering" }
  | { readonly phase: "paying"; readonly orderId: string }
  | { readonly phase: "clearing" }
  | {
      readonly phase: "creating";
      readonly paidAt: number;
      readonly cancelling: boolean;
      /** A code pays for it (G332). */
      readonly isCovered?: boolean;
      /** The create call failed, but the environment is there; what to show if it ends after all. */
      readonly unconfirmed?: Failure;
    }
  | { readonly phase: "ready"; readonly paidAt: number; readonly readyAt: number; readonly isCovered?: boolean }
  | { readonly phase: "failed"; readonly paidAt: number; readonly failure: Failure };

/** Nothing was charged; what to change before the next try. */
export interface Problem {
  readonly message: string;
  /** The step to change; undefined if the user can only retry. */
  readonly step: Step | undefined;
  /** The address must be confirmed first (G52). */
  readonly unverified?: boolean;
}

/** Money was or may have been charged. */
export interface Failure {
  /** HTTP status; 0 without a reply. */
  readonly status: number;
  readonly message: string;
  readonly money: MoneyState;
  readonly cancelled: boolean;
  /** The provider's id of the order, for the address of its page. */
  readonly orderId: string;
}

export const idle: LaunchState = { phase: "idle" };

/** After the payment the earlier steps are locked. */
export function isPaid(state: LaunchState): boolean {
  return state.phase === "creating" || state.phase === "ready" || state.phase === "failed";
}

/** The payment may have arrived, so the environment may still come by itself (G14, G302). */
export function mayStillArrive(state: LaunchState): state is Extract<LaunchState, { readonly phase: "failed" }> {
  return state.phase === "failed" && state.failure.money === "being_checked";
}

/** Whether Launch is allowed; in other states a press does nothing (C9). */
export function mayLaunch(state: LaunchState): boolean {
  return state.phase === "idle";
}

/** The step that corrects a refused order. */
export function stepToChange(code: ErrorCode | "network"): Step | undefined {
  if (code === "subdomain_taken" || code === "below_minimum") return 3;
  if (code === "out_of_stock" || code === "too_many_gpus" || code === "price_changed") return 2;
  return code === "not_prepared" ? 1 : undefined;
}

/** Whether a retry may succeed; the call is idempotent (docs/internals/money.md). */
export function isPassing(code: ErrorCode | "network", status: number): boolean {
  return code === "network" || code === "unavailable" || code === "rate_limited" || status === 502 || status === 504;
}

/** The next state once the environment of an unanswered launch is seen in `status` (G302). `now` in ms since the epoch. */
export function followed(state: LaunchState, status: Status, now: number): LaunchState {
  const { paidAt } = state as { readonly paidAt: number };
  if (mayStillArrive(state) && (status === "pending" || status === "active"))
    return { phase: "creating", paidAt, cancelling: false, unconfirmed: state.failure };
  if (state.phase !== "creating" || !state.unconfirmed) return state;
  if (status === "active") return { phase: "ready", paidAt, readyAt: now };
  return status === "terminated" ? { phase: "failed", paidAt, failure: state.unconfirmed } : state;
}
