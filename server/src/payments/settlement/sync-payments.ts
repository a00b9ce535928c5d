import { AppError } from "../../app-error.ts";
import type { OrderRow, Payments } from "../provider/payments-deps.ts";
import { GatewayError, type GatewayPayment } from "../provider/provider.ts";
import { type Outcome, observe } from "./settle-payment.ts";

/** Hands one payment to the one place that decides about money. */
export function note(payments: Payments, payment: GatewayPayment): Promise<Outcome> {
  const { db, provider, giveUpAfterSeconds, announce, seller } = payments;
  return observe(db, { gateway: provider.kind, payment, giveUpAfterSeconds, announce, seller });
}

/**
 * Reads an order's payments at the provider, notes each, and answers them. Throws `GatewayError`. A payment that says
 * it is another order's is left alone: the provider is asked by order, so that would be its mistake and not our sale.
 */
export async function askProvider(payments: Payments, order: OrderRow): Promise<readonly GatewayPayment[]> {
  if (!order.gateway_order_id) return [];
  const all = await payments.provider.paymentsOfOrder(order.gateway_order_id);
  const own = all.filter(({ orderId }) => orderId === order.gateway_order_id);
  for (const payment of own) await note(payments, payment);
  return own;
}

/** Created, authorized or captured: the buyer may believe to have paid. */
export function isInFlight({ status }: GatewayPayment): boolean {
  return status !== "failed";
}

/** Whether this installation, with these keys, can ask about an order. */
export function isOurs({ provider }: Payments, order: Pick<OrderRow, "gateway" | "mode">): boolean {
  return order.gateway === provider.kind && order.mode === provider.mode;
}

/** What a buyer hears when the provider fails; its own words stay in the log. */
export function unreachable(payments: Payments, error: unknown, money: "nothing_taken" | "being_checked"): unknown {
  if (!(error instanceof GatewayError)) return error;
  payments.failed(error);
  const message =
    money === "nothing_taken"
      ? "The payment provider does not answer. Nothing was charged. Try again in a minute."
      : "The payment provider does not answer. Your payment is being checked.";
  return new AppError("unavailable", message, { cause: error, retryAfterSeconds: 10, money });
}
