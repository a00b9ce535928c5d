import { Skeleton } from "@mantine/core";
import classes from "./order-page.module.css";

const rows = [0, 1, 2, 3];

export function OrderSkeleton() {
  return (
    <div className={classes.columns} role="status" aria-label="Loading your order...">
      <div className={classes.story}>
        <div className={classes.money} data-tone="loading">
          <Skeleton height={12} width={112} mt={2} />
          <Skeleton height={24} width="56%" my={9} />
          <Skeleton height={14} width="80%" mb={3} />
        </div>
        <Rows />
      </div>
      <Skeleton className={classes.summarySkeleton ?? ""} radius="lg" />
      <div className={classes.referencesSkeleton}>
        <Rows />
      </div>
    </div>
  );
}

function Rows() {
  return (
    <div className={classes.skeletonRows}>
      {rows.map((row) => (
        <Skeleton key={row} height={14} width={row === 0 ? 112 : "64%"} />
      ))}
    </div>
  );
}
