import { commonTexts } from "../content/common-texts.ts";
import { Facts } from "../ui/display/facts.tsx";
import { sessionLength, type Usage, utilization } from "./dashboard-figures.ts";
import classes from "./usage-overview.module.css";

export function UsageOverview({ total, usage }: { total: number; usage: Usage }) {
  return (
    <section aria-labelledby="usage-title">
      <h2 id="usage-title" className="section-title">
        Usage Overview
      </h2>
      {total === 0 ? (
        <p className={classes.none}>{commonTexts.noUsage}</p>
      ) : (
        <Facts
          facts={[
            { label: "Average session duration", value: sessionLength(usage.average_session_seconds) },
            { label: "Total containers", value: String(total) },
            { label: "GPU utilization", value: utilization(usage.gpu_percent) },
          ]}
        />
      )}
    </section>
  );
}
