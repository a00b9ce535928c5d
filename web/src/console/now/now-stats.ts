import type { Overview } from "@berth/contract/console/overview";
import { money, plural, seconds } from "../../format.ts";
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
      value: launches.p95_ms === null ? "None" : seconds(launches.p95_ms),
      note: launches.p50_ms === null ? undefined : `${launches.count} launched, median ${seconds(launches.p50_ms)}`,
    },
  ];
}
