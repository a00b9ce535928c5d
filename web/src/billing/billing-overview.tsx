import { lazy, Suspense } from "react";
import { EmptyState } from "../ui/display/empty-state.tsx";
import overview from "./billing-overview.module.css";
import classes from "./billing-page.module.css";
import { ChartsSkeleton } from "./billing-skeleton.tsx";
import { MonthFigures } from "./month-figures.tsx";
import type { Statement } from "./statement.ts";
import { UsageBreakdown } from "./usage-breakdown.tsx";

/** A chunk of its own, because the chart library is a third of the screen's size. */
const SpendingCharts = lazy(() => import("./spending-charts.tsx").then((part) => ({ default: part.SpendingCharts })));

export function BillingOverview({ statement: { chartData, usageBreakdown } }: { readonly statement: Statement }) {
  return (
    <>
      {chartData.length === 0 ? (
        <NoCharts />
      ) : (
        <>
          <Suspense fallback={<ChartsSkeleton />}>
            <SpendingCharts months={chartData} />
          </Suspense>
          <MonthFigures months={chartData} />
        </>
      )}
      <UsageBreakdown rows={usageBreakdown} />
    </>
  );
}

function NoCharts() {
  return (
    <div className={overview.charts}>
      <section aria-labelledby="spending-title">
        <h2 id="spending-title" className="section-title">
          Monthly spending
        </h2>
        <p className={classes.caption}>Paid per month, refunds taken out.</p>
        <EmptyState title="No spending data available yet" />
      </section>
      <section aria-labelledby="payments-title">
        <h2 id="payments-title" className="section-title">
          Payments per month
        </h2>
        <p className={classes.caption}>How often you pay.</p>
        <EmptyState title="No payment frequency data available yet" />
      </section>
    </div>
  );
}
