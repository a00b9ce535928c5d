import classes from "./launch-timeline.module.css";

export type TimelineStage = {
  readonly name: string;
  readonly doing: string;
  readonly at?: number | undefined;
  /** In place of a time where it failed; "No answer" without it. */
  readonly failed?: string;
};

type Props = {
  stages: readonly TimelineStage[];
  /** Seconds since the payment was confirmed. */
  elapsed: number;
  /** Seconds in which half of all launches are ready. */
  median?: number;
  scale?: number;
  /** Idle: not started. Failed: the first stage without a timestamp failed. */
  state?: "idle" | "running" | "failed";
};

/** Stages with their timestamps under a 30-second ruler. The first stage without one is running. */
export function LaunchTimeline({ stages, elapsed, median, scale = 30, state }: Props) {
  const open = stages.findIndex((stage) => stage.at === undefined);
  const done = open === -1;
  const stateOf = (stage: TimelineStage, index: number) => {
    if (stage.at !== undefined) return "done";
    if (index !== open || state === "idle") return "next";
    return state === "failed" ? "failed" : "running";
  };
  const share = (seconds: number) => `${Math.min(100, (seconds / scale) * 100)}%`;
  return (
    <div className={classes.timeline} data-state={done ? "done" : state}>
      <div className={classes.ruler} aria-hidden="true">
        <i className={classes.passed} style={{ width: share(elapsed) }} />
        {stages.map(
          (stage) =>
            stage.at !== undefined && <i key={stage.name} className={classes.tick} style={{ left: share(stage.at) }} />,
        )}
        {median !== undefined && <i className={classes.median} style={{ left: share(median) }} />}
      </div>
      <div className={classes.scale} aria-hidden="true">
        <span>0 s</span>
        <span>{scale / 2} s</span>
        <span>{scale} s</span>
      </div>
      <ol className={classes.stages}>
        {stages.map((stage, index) => {
          const at = stateOf(stage, index);
          return (
            <li key={stage.name} data-state={at} aria-current={at === "running" ? "step" : undefined}>
              <span className={classes.node} aria-hidden="true" />
              <span>{at === "running" || at === "failed" ? stage.doing : stage.name}</span>
              <time>
                {at === "done" && `+${stage.at?.toFixed(1)} s`}
                {at === "running" && `${elapsed.toFixed(1)} s`}
                {at === "failed" && (stage.failed ?? "No answer")}
              </time>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
