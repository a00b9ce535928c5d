import { createHash } from "node:crypto";
import {
  type ContainerRequest,
  type Currency,
  type createOrder,
  type Input,
  inrPaisePerUsd,
  major,
  minorOf,
  quote,
  subdomainProblem,
} from "@berth/contract";
import { AppError } from "../../app-error.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import type { Provider } from "../provider/provider.ts";

/** A buyer's request, validated and priced by the server. */
export interface OrderRequest {
  readonly container: ContainerRequest;
  readonly currency: Currency;
  readonly usdMinor: number;
  readonly amountMinor: number;
  readonly inrPaisePerUsd: number;
  /** The same purchase at the same price has the same hash. */
  readonly hash: string;
  /** The environment to extend; absent for a launch. */
  readonly extends?: string;
}

/** All validation that needs no database (G5, G73, G83). */
export function checkOrderRequest(
  { container_request: container, payment_request: payment }: Input<typeof createOrder>["body"],
  userId: string,
  minimumMinor: Provider["minimumMinor"],
): OrderRequest {
  const { currency } = payment;
  for (const id of [container.user_id, payment.user_id, payment.container_request.user_id])
    if (id !== userId) throw new AppError("forbidden", "This order is for another user");
  if (requestHash(container, currency, 0) !== requestHash(payment.container_request, currency, 0))
    throw new AppError("invalid_request", "The two container requests differ");
  const problem = subdomainProblem(container.subdomain);
  if (problem) throw new AppError("invalid_request", problem);
  return priceRequest(container, payment, minimumMinor);
}

/** Prices a request. Refuses a different amount, and one below the provider's minimum. */
export function priceRequest(
  container: ContainerRequest,
  { amount, currency }: { readonly amount: number; readonly currency: Currency },
  minimumMinor: Provider["minimumMinor"],
): OrderRequest {
  const { usdMinor, amountMinor } = quote(container.gpu_count, container.duration, currency);
  if (minorOf(amount) !== amountMinor) throw priceChanged(amountMinor, currency);
  if (amountMinor < minimumMinor[currency]) throw belowMinimum(minimumMinor[currency], currency);
  const hash = requestHash(container, currency, amountMinor);
  return { container, currency, usdMinor, amountMinor, inrPaisePerUsd, hash };
}

/** Hashes every field that decides what is delivered and charged. */
export function requestHash(container: ContainerRequest, currency: string, amountMinor: number): string {
  const { user_id, container_type, subdomain, gpu_count, duration } = container;
  const parts = [user_id, container_type, subdomain, gpu_count, duration, currency, amountMinor];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function priceChanged(amountMinor: number, currency: Currency): AppError {
  const right = `${formatAmount(amountMinor, currency)} (${major(amountMinor)} ${currency})`;
  return new AppError("price_changed", `The price of this environment is ${right}. Review the order and try again.`);
}

function belowMinimum(minimumMinor: number, currency: Currency): AppError {
  const least = formatAmount(minimumMinor, currency);
  return new AppError(
    "below_minimum",
    `Card payments start at ${least}. Take at least 6 hours, take 4 GPUs, or pay in INR.`,
  );
}
