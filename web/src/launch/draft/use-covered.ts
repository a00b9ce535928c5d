import { hoursOfCredit, planOf } from "@berth/contract";
import { useQuery } from "@tanstack/react-query";
import { creditsQuery } from "../../api/queries.ts";
import { money } from "../../format.ts";
import type { Draft } from "./draft.ts";
import { type PriceLines, priceLines } from "./price-lines.ts";

/** Hours with which a code starts this draft by itself (G332); 0: it is paid. The environment gets all of them. */
export function useCovered(userId: string, { gpus, hours }: Pick<Draft, "gpus" | "hours">): number {
  const open = useQuery(creditsQuery(userId)).data ?? [];
  const gpuHours = open.reduce((sum, { gpu_hours, alone }) => sum + (alone ? gpu_hours : 0), 0);
  const covered = hoursOfCredit(gpuHours, gpus);
  return planOf(hours) === "hourly" && covered >= hours ? covered : 0;
}

/** The sums of a draft; of one that is covered they are zero. */
export function linesOf(draft: Draft, covered: number): PriceLines {
  const lines = priceLines(draft);
  if (covered === 0) return lines;
  const zero = money(0, draft.currency);
  const totals = lines.totals.map(({ currency }) => ({ currency, text: money(0, currency) }));
  return { ...lines, totals, charged: zero, other: "Your code covers it" };
}
