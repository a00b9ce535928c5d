import { Skeleton } from "@mantine/core";
import { SlowRead } from "../../ui/display/slow-read.tsx";
import classes from "./list-page.module.css";

const rows = [0, 1, 2, 3, 4];

/** The final layout while loading, to avoid layout shifts. */
export function ListSkeleton() {
  return (
    <div className={classes.page} aria-busy="true">
      <p className={classes.hidden} role="status">
        Loading your environments...
      </p>
      <Skeleton height={34} />
      <div className={classes.head}>
        <Skeleton height={14} width="40%" maw={220} />
        <span className={classes.space} />
        <Skeleton height={34} width="30%" maw={160} />
      </div>
      <SlowRead what="your environments" />
      <div className={classes.rows}>
        {rows.map((row) => (
          <div key={row}>
            <Skeleton height={14} width="30%" />
            <Skeleton height={12} width="46%" mt={8} />
          </div>
        ))}
      </div>
    </div>
  );
}
