import { notOffered, quote } from "@berth/contract";
import { announcedPrices, catalogue, prices } from "../../catalogue.ts";
import { longDay, money } from "../../format.ts";
import type { Draft } from "./draft.ts";

/** What the next announced prices mean for a choice (G152); undefined: none are announced. */
export function comingPrice({ gpus, hours, currency }: Pick<Draft, "gpus" | "hours" | "currency">): string | undefined {
  const [next] = announcedPrices();
  if (!next) return undefined;
  const day = longDay(next.from);
  if (notOffered(catalogue, next, { gpu_count: gpus, duration: hours, currency }))
    return `From ${day} this choice is no longer offered. Ordered before, it keeps its price.`;
  const [now, then] = [prices(), next].map((version) => quote(version, gpus, hours, currency).amountMinor);
  if (now === then) return `New prices begin on ${day}. This choice costs the same then.`;
  return `From ${day} this choice costs ${money(then ?? 0, currency)}. Ordered before, it keeps its price.`;
}
