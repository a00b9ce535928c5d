import { type Catalogue, pricesAt } from "@berth/contract";
import { sessionsPerUser } from "./limit-requests.ts";

interface LimitSettings {
  readonly catalogue: Catalogue;
  readonly caps: {
    readonly gpusPerUser: number;
    readonly launchesPerUser: number;
    readonly ordersPerMinute: number;
    /** From 0 to 1. */
    readonly newcomerShare: number;
  };
  readonly limits: {
    readonly requestsPerMinute: number;
    readonly anonymousPerMinute: number;
    readonly unauthenticatedPerMinute: number;
  };
}

/**
 * What the documentation names, by its placeholder: `8<!-- GPUS_PER_USER -->` on disk is the default, and the served page has
 * this installation's figure (web/docs/render-markdown.ts).
 */
export function namedLimits({ catalogue, caps, limits }: LimitSettings, at: Date): Readonly<Record<string, string>> {
  const { rows, hours } = pricesAt(catalogue, at);
  return {
    GPUS_PER_USER: String(caps.gpusPerUser),
    LAUNCHES_PER_USER: String(caps.launchesPerUser),
    ORDERS_PER_MINUTE: String(caps.ordersPerMinute),
    REQUESTS_PER_MINUTE: String(limits.requestsPerMinute),
    ACCOUNT_REQUESTS_PER_MINUTE: String(limits.requestsPerMinute * sessionsPerUser),
    ANONYMOUS_PER_MINUTE: String(limits.anonymousPerMinute),
    UNAUTHENTICATED_PER_MINUTE: String(limits.unauthenticatedPerMinute),
    NEWCOMER_SHARE: String(Math.round(caps.newcomerShare * 100)),
    GPU_COUNTS: oneOf(rows.map(({ gpus }) => gpus)),
    HOURS: oneOf(hours),
    HOURLY_PRICES: listOf(rows.map(({ gpus, hourlyCents }) => [gpus, (hourlyCents / 100).toFixed(2)])),
    MONTHLY_PRICES: listOf(
      rows.flatMap(({ gpus, monthlyCents }) => (monthlyCents === null ? [] : [[gpus, String(monthlyCents / 100)]])),
    ),
  };
}

/** "$0.20 with 1 GPU, $0.40 with 2". */
function listOf(prices: readonly (readonly [gpus: number, dollars: string])[]): string {
  const named = prices.map(([gpus, dollars], index) => {
    const unit = index > 0 ? "" : gpus === 1 ? " GPU" : " GPUs";
    return `$${dollars} with ${gpus}${unit}`;
  });
  return named.length > 0 ? named.join(", ") : "not offered";
}

function oneOf(numbers: readonly number[]): string {
  const last = numbers.length - 1;
  return numbers.map((number, index) => (index === 0 ? number : `${index === last ? " or" : ","} ${number}`)).join("");
}
