import { commonTexts } from "../content/common-texts.ts";
import type { Environment } from "../environments/lifecycle/environment.ts";
import { Facts } from "../ui/display/facts.tsx";
import { averageSeconds, sessionLength, type Usage, utilization } from "./dashboard-figures.ts";
import classes from "./usage-overview.module.css";

export function UsageOverview({ all, usage }: { all: readonly Environment[]; usage: Usage }) {
  return (
    <section aria-labelledby="usage-title">
      <h2 id="usage-title" className="section-title">
        Usage Overview
      </h2>
      {all.length === 0 ? (
        <p className={classes.none}>{commonTexts.noUsage}</p>
      ) : (
        <Facts
          facts={[
            { label: "Average session duration", value: sessionLength(averageSeconds(all, usage)) },
            { label: "Total containers", value: String(all.length) },
            { label: "GPU utilization", value: utilization(usage?.gpu_percent ?? null) },
          ]}
        />
      )}
    </section>
  );
}
