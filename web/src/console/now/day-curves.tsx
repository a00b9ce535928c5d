import type { Overview } from "@berth/contract/console/overview";
import { lazy, Suspense } from "react";
import { capitalised } from "../../content/number-word.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import metrics from "../../environments/metrics/environment-metrics.module.css";
import { type Row, topOf } from "../../environments/metrics/metrics-of.ts";
import { useUnit } from "../frame/use-unit.ts";
import classes from "./now-page.module.css";

type Step = Overview["day"][number];
type Count = Exclude<keyof Step, "at">;

interface Curve {
  readonly title: string;
  readonly figure: string;
  readonly note: string;
  readonly counts: readonly Count[];
  readonly top: number;
}

const stepMs = 30 * 60_000;
const Lines = lazy(() =>
  import("../../environments/metrics/metric-lines.tsx").then((part) => ({ default: part.MetricLines })),
);

/** The last 24 hours of what a seller watches, in half hours; the text says what the curves show. */
export function DayCurves({ day, gpus }: Pick<Overview, "day" | "gpus">) {
  const unit = useUnit();
  const rows: Row[] = day.map(({ at, ...counts }) => ({ at: Date.parse(at), ...counts }));
  const from = rows[0]?.at ?? 0;
  const to = (rows.at(-1)?.at ?? 0) + stepMs;
  return (
    <section aria-labelledby="day-title">
      <h2 id="day-title" className={classes.title}>
        Last 24 hours
      </h2>
      <div className={classes.curves}>
        {curvesOf(day, gpus.total, unit).map(({ title, figure, note, counts, top }) => (
          <div key={title} className={metrics.measure}>
            <h3>{title}</h3>
            <p className={metrics.figure}>{figure}</p>
            <div className={metrics.lines} role="img" aria-label={`${title}: ${figure}. ${note}`}>
              <Suspense>
                <Lines rows={rows} names={counts} span={[from, to - stepMs]} top={top} />
              </Suspense>
            </div>
            <p className={metrics.note} aria-hidden="true">
              <span>{note}</span>
            </p>
          </div>
        ))}
      </div>
    </section>
  );
}

/** "3 of 8 leased", the launches, and who found nothing free. */
export function curvesOf(day: readonly Step[], total: number, { all }: UnitWords): readonly Curve[] {
  const sum = (name: Count) => day.reduce((count, step) => count + step[name], 0);
  const most = (...names: Count[]) => Math.max(0, ...day.flatMap((step) => names.map((name) => step[name])));
  const undelivered = sum("undelivered");
  const queued = sum("queued");
  return [
    {
      title: `${capitalised(all)} leased`,
      figure: `${day.at(-1)?.rented ?? 0} of ${total}`,
      note: `At most ${most("rented")}, counted each half hour`,
      counts: ["rented"],
      top: Math.max(total, most("rented"), 1),
    },
    {
      title: "Launches",
      figure: String(sum("launched")),
      note: undelivered === 0 ? "All delivered" : `${undelivered} more not delivered`,
      counts: ["launched", ...(undelivered > 0 ? (["undelivered"] as const) : [])],
      top: topOf(most("launched", "undelivered"), 5),
    },
    {
      title: "Found nothing free",
      figure: String(queued),
      note: queued === 0 ? "Nobody had to wait" : "Asked to wait in the queue",
      counts: ["queued"],
      top: topOf(most("queued"), 5),
    },
  ];
}
