import type { SamplePoint } from "@berth/contract";
import { lazy, Suspense } from "react";
import classes from "./environment-metrics.module.css";
import { type Metric, rowsOf, topOf } from "./metrics-of.ts";

interface Props {
  readonly measure: Metric;
  readonly points: readonly SamplePoint[];
  /** Milliseconds since the epoch. */
  readonly toMs: number;
  readonly spanMs: number;
  readonly stepMs: number;
  /** The label of the last value: "now" while it runs, else "last". */
  readonly tense: "now" | "last";
}

const MeasureLines = lazy(() => import("./metric-lines.tsx").then((part) => ({ default: part.MetricLines })));

/** One metric with its last value and its chart; the text has all data of the chart. */
export function MetricChart({ measure: { title, lines, text, least, absent }, points, tense, ...time }: Props) {
  const fromMs = time.toMs - time.spanMs;
  const rows = rowsOf(points, lines, { fromMs, stepMs: time.stepMs });
  const measured = lines.flatMap(({ name }) => {
    const values = rows.flatMap((row) => row[name] ?? []);
    const last = values.at(-1);
    return last === undefined ? [] : [{ name, last, highest: Math.max(...values) }];
  });
  if (measured.length === 0)
    return (
      <div className={classes.measure}>
        <h3>{title}</h3>
        <p className={classes.figure} data-absent>
          N/A
        </p>
        <p className={classes.note}>{absent ?? "Nothing was measured in this time"}</p>
      </div>
    );
  const many = measured.length > 1;
  const figures = measured.map(({ name, last }) => (many ? `${name} ${text(last)}` : text(last))).join(", ");
  const highest = Math.max(...measured.map((each) => each.highest));
  const top = topOf(highest, least);
  return (
    <div className={classes.measure}>
      <h3>{title}</h3>
      <p className={classes.figure} data-many={many || undefined}>
        {figures}
      </p>
      <div className={classes.lines} role="img" aria-label={`${title}: ${figures} ${tense}, at most ${text(highest)}`}>
        <Suspense>
          <MeasureLines rows={rows} names={measured.map(({ name }) => name)} span={[fromMs, time.toMs]} top={top} />
        </Suspense>
      </div>
      <p className={classes.note} aria-hidden="true">
        <span>At most {text(highest)}</span>
        <span>Top of the chart: {text(top)}</span>
      </p>
    </div>
  );
}
