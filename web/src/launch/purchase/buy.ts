import {
  clearOrder,
  createEnvironment,
  createOrder,
  type ErrorCode,
  extendEnvironment,
  launchWithCredit,
  type MoneyState,
  major,
  type ReplyOf,
} from "@berth/contract";
import { ApiError } from "../../api/api-error.ts";
import { call } from "../../api/call.ts";
import { toast } from "../../ui/toast/toast.ts";
import { type Draft, keepCurrency, requestOf } from "../draft/draft.ts";
import { priceLines } from "../draft/price-lines.ts";
import { loadCheckout, openCheckout, type PaymentProof } from "./checkout.ts";
import { type Failure, isPassing, type LaunchState, stepToChange } from "./launch-state.ts";

export interface Purchase {
  readonly draft: Draft;
  readonly userId: string;
  /** A code covers it: nothing is paid (G332). */
  readonly isCovered?: boolean;
  /** Extends this environment instead of launching a new one (G100). */
  readonly extends?: string;
  /** Customer data for the provider's dialog. */
  readonly prefill: { readonly name: string; readonly email: string; readonly contact: string };
  /** URL of the provider's script, from `GET /config`. */
  readonly scriptUrl: string;
}

export type Created = ReplyOf<typeof createEnvironment>;
type Placed = ReplyOf<typeof createOrder>;

/** Spec 8.6. */
const launchFailed = "Failed to create environment";
const systemNotice = { title: "SYSTEM NOTIFICATION", duration: 6_000 } as const;
/** The dialog's timeout; the hold is longer (docs/internals/money.md). */
const dialogSeconds = 840;
/** Once nobody watches the launch; the poller delivers without the proof. */
const triesUnseen = 6;
const askEveryMs = 2_000;
/** The server waits up to 45 s for the environment before it answers (G72). */
const launchWithinMs = 75_000;

/**
 * Orders and pays. Returns the proof of payment; undefined if nothing was bought, with the reason shown and the state idle.
 */
export async function buy(
  purchase: Purchase,
  onState: (state: LaunchState) => void,
  signal: AbortSignal,
): Promise<PaymentProof | undefined> {
  onState({ phase: "ordering" });
  const placed = await placeOrder(purchase).catch((error: unknown) => showRefusal(error, onState));
  if (!placed) return undefined;
  keepCurrency(purchase.draft.currency);
  try {
    await loadCheckout(purchase.scriptUrl);
    onState({ phase: "paying", orderId: placed.id });
    const proof = await openCheckout(dialogOf(placed, purchase), signal);
    if (proof) return proof;
  } catch (error) {
    const message = (error instanceof Error && error.message) || launchFailed;
    toast.error(message);
    await clear(placed.id);
    onState({ phase: "idle", problem: { message, step: undefined } });
    return undefined;
  }
  onState({ phase: "clearing" });
  toast.loading("Payment cancelled. Cleaning up...");
  const inFlight = await clear(placed.id);
  onState(inFlight ? { phase: "idle", problem: { message: inFlightText, step: undefined } } : { phase: "idle" });
  return undefined;
}

/**
 * Starts what a code covers, without a payment (G332), as often as it takes: the same request finds the same environment.
 * Undefined if it was refused, with the reason shown and the state idle.
 */
export async function launchCovered(
  { draft, userId }: Purchase,
  onState: (state: LaunchState) => void,
  visit: AbortSignal,
): Promise<Created | undefined> {
  const body = { container_request: requestOf(draft, userId) };
  return untilAnswered(() => call(launchWithCredit, { params: {}, body }, { withinMs: launchWithinMs }), visit).catch(
    (error: unknown) => showRefusal(error, onState),
  );
}

/** Sends the proof until the server replies. The call is idempotent, and the poller delivers without it (G12). */
export async function prove(draft: Draft, userId: string, proof: PaymentProof, visit?: AbortSignal): Promise<Created> {
  const body = {
    container_request: requestOf(draft, userId),
    payment_data: {
      razorpay_order_id: proof.razorpay_order_id,
      razorpay_payment_id: proof.razorpay_payment_id,
      razorpay_signature: proof.razorpay_signature,
    },
  };
  return untilAnswered(() => call(createEnvironment, { params: {}, body }, { withinMs: launchWithinMs }), visit);
}

/** Asks again where it may help, as long as `visit` lasts (G302). */
async function untilAnswered(ask: () => Promise<Created>, visit?: AbortSignal): Promise<Created> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || !isPassing(error.code, error.status)) throw error;
      if (visit?.aborted !== false && tries >= triesUnseen) throw error;
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    }
  }
}

/** A failed creation with the state of the money; "being checked" without a reply. */
export function failureOf(error: unknown, cancelled: boolean, { razorpay_order_id: orderId }: PaymentProof): Failure {
  if (!(error instanceof ApiError))
    return { status: 0, message: launchFailed, money: "being_checked", cancelled, orderId };
  const money: MoneyState = error.money ?? "being_checked";
  return { status: error.status, message: error.message, money, cancelled, orderId };
}

const inFlightText =
  "A payment for this order is already on its way. If it arrives, the environment starts by itself; if not, nothing is charged.";

function placeOrder({ draft, userId, extends: id }: Purchase): Promise<Placed> {
  const request = requestOf(draft, userId);
  const amount = major(priceLines(draft).amountMinor);
  if (id !== undefined) {
    const body = { duration: draft.hours, amount, currency: draft.currency };
    return call(extendEnvironment, { params: { id }, body });
  }
  return call(createOrder, {
    params: {},
    body: {
      container_request: request,
      payment_request: { amount, currency: draft.currency, user_id: userId, container_request: request },
    },
  });
}

/** The server's message is a notice, everything else an error (spec 8.6). */
function showRefusal(error: unknown, onState: (state: LaunchState) => void): undefined {
  const code: ErrorCode | "network" = error instanceof ApiError ? error.code : "network";
  const serverMessage = error instanceof Error ? error.message : "";
  const message = serverMessage || launchFailed;
  if (code === "network" || serverMessage === "") toast.error(message);
  else toast.info(message, systemNotice);
  onState({ phase: "idle", problem: { message, step: stepToChange(code), unverified: code === "email_unverified" } });
}

function dialogOf(placed: Placed, { prefill }: Purchase) {
  const { id, key_id: key, amount, currency, name, description, theme, timeout = dialogSeconds } = placed;
  return { key, amount, currency, name, description, order_id: id, prefill, theme, timeout };
}

/** Releases the hold. True if it was kept because a payment is in flight. Without a reply it lapses after 15 minutes. */
async function clear(orderId: string): Promise<boolean> {
  try {
    return (await call(clearOrder, { params: { order_id: orderId }, body: {} })).cleared === false;
  } catch {
    return false;
  }
}
