import { plural } from "@berth/contract";
import type { Overview } from "@berth/contract/console/overview";
import { meaningful } from "../../content/meaningful.ts";
import { money, seconds } from "../../format.ts";
import type { Stat } from "../../ui/display/stats.tsx";

type Figures = Pick<Overview, "revenue" | "waiting" | "launches">;

/** The three figures at the top: revenue of the day, money that waits, how long launches take. */
export function nowStats({ revenue, waiting, launches }: Figures): Stat[] {
  const paid = revenue.amounts.map(({ currency, paid_minor }) => money(paid_minor, currency));
  const back = revenue.amounts.filter(({ refunded_minor }) => refunded_minor > 0);
  const refunded = back.map(({ currency, refunded_minor }) => money(refunded_minor, currency));
  const refunds = waiting.refunds.reduce((sum, { count }) => sum + count, 0);
  return [
    {
      label: "Paid today (UTC)",
      value: paid.join(" + ") || "None",
      note: refunded.length > 0 ? `${refunded.join(" + ")} refunded` : undefined,
    },
    {
      label: "Refunds under way",
      value: waiting.refunds.map(({ currency, minor }) => money(minor, currency)).join(" + ") || "None",
      note: refunds > 0 ? plural(refunds, "refund") : undefined,
    },
    {
      label: "Launches, 24 hours, p95",
      ...launchFigure(launches),
    },
  ];
}

function launchFigure(launches: Figures["launches"]): Pick<Stat, "value" | "note"> {
  const { p50_ms, p95_ms, count } = launches;
  if (p50_ms === null || p95_ms === null) return { value: "None" };
  if (!meaningful(launches)) return { value: "Too few", note: `${count} launched; a p95 takes 20` };
  return { value: seconds(p95_ms), note: `${count} launched, median ${seconds(p50_ms)}` };
}
