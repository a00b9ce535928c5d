import { Skeleton } from "@mantine/core";
import { SlowRead } from "../ui/display/slow-read.tsx";
import classes from "./dashboard-page.module.css";

/** The final layout while loading, to avoid layout shifts. */
export function DashboardSkeleton() {
  return (
    <div className={classes.page} role="status" aria-label="Loading your dashboard...">
      <div className={classes.welcome}>
        <div>
          <Skeleton height={28} width={240} mb={8} />
          <Skeleton height={16} width={300} maw="100%" />
          <SlowRead what="your environments" />
        </div>
      </div>
      <Skeleton height={100} radius="lg" />
      <div className={classes.columns}>
        <Skeleton height={360} radius="lg" />
        <div className={classes.rail}>
          <Skeleton height={150} radius="lg" />
          <Skeleton height={170} radius="lg" />
        </div>
      </div>
    </div>
  );
}
