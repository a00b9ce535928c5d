import type { UnpaidOrder } from "@berth/contract";
import { extendParam } from "../actions/extend-param.ts";

/**
 * Where an unpaid order is paid: at the last step with its choices, or in Add time of its environment (G333). There the
 * same request gets the same order.
 */
export function payPath({
  extends: extended,
  container_type: type,
  gpu_count,
  duration_hours,
  currency,
  subdomain,
}: Omit<UnpaidOrder, "id" | "payment_order" | "amount" | "held_until">): string {
  const hours = String(duration_hours);
  if (extended !== null)
    return `/environments/${extended}?${new URLSearchParams({ [extendParam]: extended, hours, currency })}`;
  const choices = { step: "4", type, gpus: String(gpu_count), hours, currency, subdomain };
  return `/environments/create?${new URLSearchParams(choices)}`;
}
