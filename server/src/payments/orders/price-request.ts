import { createHash } from "node:crypto";
import {
  type Catalogue,
  type ContainerRequest,
  type createOrder,
  durationLabel,
  type Input,
  major,
  minimumChanges,
  minorOf,
  notOffered,
  type Prices,
  plural,
  quote,
  subdomainProblem,
} from "@berth/contract";
import { AppError } from "../../app-error.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import type { Provider } from "../provider/provider.ts";

/** A buyer's request, validated and priced by the server. */
export interface OrderRequest {
  readonly container: ContainerRequest;
  readonly currency: string;
  readonly usdMinor: number;
  readonly amountMinor: number;
  /** Hundredths of a unit of the currency for one dollar. */
  readonly ratePerDollar: number;
  /** The same purchase at the same price has the same hash. */
  readonly hash: string;
  /** The environment to extend; absent for a launch. */
  readonly extends?: string;
}

/** What is sold now, the smallest charge of the provider, and the word for what is rented (G307). */
export interface Offer {
  readonly catalogue: Catalogue;
  readonly prices: Prices;
  readonly minimumMinor: Provider["minimumMinor"];
  readonly unit: "GPU" | "slot";
}

/** All validation that needs no database (G5, G73, G83). */
export function checkOrderRequest(
  { container_request: container, payment_request: payment }: Input<typeof createOrder>["body"],
  userId: string,
  offer: Offer,
): OrderRequest {
  const { currency } = payment;
  for (const id of [container.user_id, payment.user_id, payment.container_request.user_id])
    if (id !== userId) throw new AppError("forbidden", "This order is for another user");
  if (requestHash(container, currency, 0) !== requestHash(payment.container_request, currency, 0))
    throw new AppError("invalid_request", "The two container requests differ");
  const problem = subdomainProblem(container.subdomain);
  if (problem) throw new AppError("invalid_request", problem);
  const { container_type } = container;
  checkSold(offer, { container_type }, "container_request.");
  return priceRequest(container, payment, offer);
}

/**
 * Prices a request. Refuses what is not sold, a different amount, and one below the provider's minimum. The type is not
 * looked at: time can be added to an environment whose type is no longer sold (G126).
 */
export function priceRequest(
  container: ContainerRequest,
  { amount, currency }: { readonly amount: number; readonly currency: string },
  offer: Offer,
): OrderRequest {
  const { gpu_count, duration } = container;
  checkSold(offer, { gpu_count, duration, currency });
  const { prices, minimumMinor } = offer;
  const { usdMinor, amountMinor } = quote(prices, gpu_count, duration, currency);
  if (minorOf(amount) !== amountMinor) throw priceChanged(amountMinor, currency);
  const least = minimumMinor[currency] ?? 0;
  if (amountMinor < least) throw belowMinimum(offer, { gpus: gpu_count, hours: duration, currency });
  const hash = requestHash(container, currency, amountMinor);
  return { container, currency, usdMinor, amountMinor, ratePerDollar: frozenRate(prices, currency), hash };
}

/** Throws `invalid_request` with the field that is not sold. */
export function checkSold({ catalogue, prices }: Offer, wanted: Parameters<typeof notOffered>[2], folder = ""): void {
  const field = notOffered(catalogue, prices, wanted);
  if (field) throw new AppError("invalid_request", `${folder}${field}: ${wanted[field]} is not offered`);
}

/** An order in dollars keeps the rate of the second currency, as orders always have. */
function frozenRate({ currencies }: Prices, currency: string): number {
  const [list, second = list] = currencies;
  const terms = currency === list?.code ? second : currencies.find(({ code }) => code === currency);
  return terms?.ratePerDollar ?? 100;
}

/** Hashes every field that decides what is delivered and charged. */
export function requestHash(container: ContainerRequest, currency: string, amountMinor: number): string {
  const { user_id, container_type, subdomain, gpu_count, duration } = container;
  const parts = [user_id, container_type, subdomain, gpu_count, duration, currency, amountMinor];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function priceChanged(amountMinor: number, currency: string): AppError {
  const right = `${formatAmount(amountMinor, currency)} (${major(amountMinor)} ${currency})`;
  return new AppError("price_changed", `The price of this environment is ${right}. Review the order and try again.`);
}

function belowMinimum({ prices, minimumMinor, unit }: Offer, choice: Parameters<typeof minimumChanges>[1]): AppError {
  const least = formatAmount(minimumMinor[choice.currency] ?? 0, choice.currency);
  const changes = (minimumChanges(prices, choice, minimumMinor) ?? []).map(({ gpus, hours, currency }) => {
    if (hours !== undefined) return `take at least ${durationLabel(hours)}`;
    return gpus === undefined ? `pay in ${currency}` : `take ${plural(gpus, unit)}`;
  });
  const ways = new Intl.ListFormat("en-US", { type: "disjunction" }).format(changes);
  const advice = ways === "" ? "" : ` ${ways.charAt(0).toUpperCase()}${ways.slice(1)}.`;
  return new AppError("below_minimum", `Payments start at ${least}.${advice}`);
}
