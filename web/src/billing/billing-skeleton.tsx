import { Skeleton } from "@mantine/core";
import { SlowRead } from "../ui/display/slow-read.tsx";
import overview from "./billing-overview.module.css";
import classes from "./billing-page.module.css";

/** The final layout while loading, to avoid layout shifts. */
export function BillingSkeleton() {
  return (
    <div className={classes.page} role="status" aria-label="Loading billing data...">
      <Skeleton className={classes.statsSkeleton ?? ""} radius="lg" />
      <Skeleton height={33} />
      <SlowRead what="your payments" />
      <ChartsSkeleton />
    </div>
  );
}

/** Both charts at their heights: 300 and 250 px below title and caption, aligned at the bottom while side by side. */
export function ChartsSkeleton() {
  return (
    <div className={overview.charts}>
      <Skeleton height={356} radius="lg" />
      <Skeleton className={overview.barsSkeleton ?? ""} radius="lg" />
    </div>
  );
}
