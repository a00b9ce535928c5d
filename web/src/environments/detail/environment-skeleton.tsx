import { Skeleton } from "@mantine/core";
import classes from "./environment-page.module.css";

export function EnvironmentSkeleton() {
  return (
    <>
      <div className={classes.head} role="status" aria-label="Loading your environment...">
        <div className={classes.title}>
          <Skeleton height={24} width={200} my={3} />
          <Skeleton height={14} width={240} my={3} />
        </div>
        <Skeleton height={34} width={280} />
      </div>
      <div className={classes.columns}>
        <div className={classes.story}>
          <Skeleton height={320} radius="lg" />
          <Skeleton height={120} radius="lg" />
        </div>
        <Skeleton className={classes.summarySkeleton ?? ""} radius="lg" />
      </div>
    </>
  );
}
