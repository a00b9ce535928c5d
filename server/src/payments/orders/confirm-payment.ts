import type { createEnvironment, Input, MoneyState, ReplyOf } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import { environmentOfOrder } from "../../environments/allocation/launch.ts";
import { notFound } from "../../http/mount.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError, type ProviderPayment } from "../provider/provider.ts";
import { createWaitsMs } from "../settlement/deadlines.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { isFromProvider, providerUnavailable } from "../settlement/sync-payments.ts";
import { findOwnOrder } from "./end-unpaid-order.ts";
import { requestHash } from "./price-request.ts";
import { waitUntil } from "./wait-until.ts";

type Body = Input<typeof createEnvironment>["body"];
export type Created = ReplyOf<typeof createEnvironment>;

/**
 * Checks the browser's proof of a payment, settles it, and waits for the environment (G72). Idempotent: repeated calls,
 * before or after the poller settled the payment, return the same environment and token.
 */
export async function confirmPayment(
  deps: PaymentsDeps,
  userId: string,
  { container_request: container, payment_data: proof }: Body,
  signal: AbortSignal,
): Promise<Created> {
  if (container.user_id !== userId) throw new AppError("forbidden", "This order is for another user");
  const order = await findOwnOrder(deps, userId, proof.razorpay_order_id);
  if (!isFromProvider(deps, order)) throw notFound();
  if (requestHash(container, order.currency, order.amount_minor) !== order.request_hash)
    throw new AppError("request_changed", "This is not what was ordered. Your payment is being checked.", {
      money: "being_checked",
    });
  const payment = await provenPayment(deps, order, proof);
  await settlePayment(deps, payment);
  if (payment.status !== "captured") throw notCaptured(payment);
  return waitForEnvironment(deps, userId, order, signal);
}

/** Waits for the environment of a paid order; `pending` after 45 s. Throws `not_delivered`. */
export async function waitForEnvironment(
  deps: PaymentsDeps,
  userId: string,
  order: OrderRow,
  signal: AbortSignal,
): Promise<Created> {
  const { changes } = deps;
  const read = () => readOutcome(deps, order, false);
  const reply = await waitUntil({ changes, userId, timeoutMs: createWaitsMs, fallbackMs: 5000, signal, read });
  return reply ?? (await readOutcome(deps, order, true)) ?? stillPending();
}

/** Reads the payment at the provider, because the signature covers order and payment, but neither user nor amount. */
async function provenPayment(
  deps: PaymentsDeps,
  order: OrderRow,
  proof: Body["payment_data"],
): Promise<ProviderPayment> {
  const { provider } = deps;
  const { razorpay_order_id: orderId, razorpay_payment_id: paymentId, razorpay_signature: signature } = proof;
  if (!provider.verifyCallback({ orderId, paymentId, signature })) throw mismatch();
  try {
    const payment = await provider.payment(paymentId);
    if (payment.orderId !== order.gateway_order_id) throw mismatch();
    return payment;
  } catch (error) {
    if (error instanceof ProviderError && !error.retryable && error.httpStatus !== 401) throw mismatch();
    throw providerUnavailable(deps, error, "being_checked");
  }
}

function mismatch(): AppError {
  const message = "The payment's signature does not fit this order. If you paid, the payment is found and delivered.";
  return new AppError("signature_mismatch", message, { money: "being_checked" });
}

function notCaptured({ status }: ProviderPayment): AppError {
  return status === "failed"
    ? new AppError("payment_not_captured", "The payment failed. Nothing was charged.", { money: "nothing_taken" })
    : new AppError("payment_not_captured", "The bank has not confirmed the payment yet. It is being checked.", {
        money: "being_checked",
      });
}

/** Returns undefined while the environment starts, or the pending reply with `pendingToo` (G72). */
async function readOutcome({ db }: PaymentsDeps, order: OrderRow, pendingToo: boolean): Promise<Created | undefined> {
  const row = db.selectFrom("orders").select("status").where("id", "=", order.id);
  const { status } = await row.executeTakeFirstOrThrow();
  if (status === "refunding") throw notDelivered(order, "Your money is on its way back.", "refund_started");
  if (status === "refunded" && order.gateway === "credit")
    throw notDelivered(order, "The hours of your code are yours again.", "nothing_taken");
  if (status === "refunded") throw notDelivered(order, "Your money was sent back.", "refunded");
  const environment = await environmentOfOrder(db, order);
  if (!environment) return undefined;
  const { id, secret, subdomain } = environment;
  const delivered = { jupyter_token: secret, environment_id: id, subdomain };
  if (status === "fulfilled" && environment.status === "terminated") throw notFound();
  const message = order.extends ? "Environment extended" : "Environment ready";
  if (status === "fulfilled") return { status: "active", message, ...delivered };
  return pendingToo ? { status: "pending", message: "The environment is still starting", ...delivered } : undefined;
}

function notDelivered({ extends: extended }: OrderRow, what: string, money: MoneyState): AppError {
  const failed = extended ? "extended" : "delivered";
  return new AppError("not_delivered", `The environment could not be ${failed}. ${what}`, { money });
}

function stillPending(): never {
  throw new AppError("unavailable", "Your payment is being checked.", {
    retryAfterSeconds: 10,
    money: "being_checked",
  });
}
