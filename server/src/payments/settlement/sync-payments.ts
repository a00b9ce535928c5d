import { AppError } from "../../app-error.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError, type ProviderPayment } from "../provider/provider.ts";
import { settlePayment } from "./settle-payment.ts";

/**
 * Reads an order's payments at the provider, settles each, and returns them. Payments that name another order are ignored,
 * as an error of the provider. Throws `ProviderError`.
 */
export async function syncPayments(deps: PaymentsDeps, order: OrderRow): Promise<readonly ProviderPayment[]> {
  if (!order.gateway_order_id) return [];
  const all = await deps.provider.paymentsOfOrder(order.gateway_order_id);
  const own = all.filter(({ orderId }) => orderId === order.gateway_order_id);
  for (const payment of own) await settlePayment(deps, payment);
  return own;
}

/** Created, authorized or captured: the buyer may consider it paid. */
export function isInFlight({ status }: ProviderPayment): boolean {
  return status !== "failed";
}

/** Whether an order can be read at the provider with the current keys. */
export function isFromProvider({ provider }: PaymentsDeps, order: Pick<OrderRow, "gateway" | "mode">): boolean {
  return order.gateway === provider.kind && order.mode === provider.mode;
}

/** The error for a buyer when the provider fails; the provider's own message goes to the log. */
export function providerUnavailable(
  deps: PaymentsDeps,
  error: unknown,
  money: "nothing_taken" | "being_checked",
): unknown {
  if (!(error instanceof ProviderError)) return error;
  deps.log.warn({ event: "provider.unreachable", err: error });
  const message =
    money === "nothing_taken"
      ? "The payment provider does not answer. Nothing was charged. Try again in a minute."
      : "The payment provider does not answer. Your payment is being checked.";
  return new AppError("unavailable", message, { cause: error, retryAfterSeconds: 10, money });
}
