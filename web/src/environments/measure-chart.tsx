import type { SamplePoint } from "@berth/contract";
import classes from "./environment-use.module.css";
import { draw, type Measure, topOf } from "./measures.ts";

interface Props {
  readonly measure: Measure;
  readonly points: readonly SamplePoint[];
  /** Milliseconds since the epoch. */
  readonly toMs: number;
  readonly spanMs: number;
  readonly stepMs: number;
  /** What the last value is called: "now", or when nothing runs any more "last". */
  readonly tense: "now" | "last";
}

/** One measure: its last figure, and how it went. The picture says nothing that its words do not. */
export function MeasureChart({ measure: { title, lines, text, least, absent }, points, tense, ...time }: Props) {
  const box = { fromMs: time.toMs - time.spanMs, toMs: time.toMs, stepMs: time.stepMs };
  const highest = Math.max(0, ...lines.flatMap(({ of }) => points.map((point) => of(point) ?? 0)));
  const top = topOf(highest, least);
  const drawn = lines.flatMap(({ name, of }) => {
    const line = draw(points, of, { ...box, top });
    return line ? [{ name, ...line }] : [];
  });
  if (drawn.length === 0)
    return (
      <div className={classes.measure}>
        <h3>{title}</h3>
        <p className={classes.figure} data-absent>
          N/A
        </p>
        <p className={classes.note}>{absent ?? "Nothing was measured in this time"}</p>
      </div>
    );
  const figures = drawn.map(({ name, last }) => (drawn.length === 1 ? text(last) : `${name} ${text(last)}`)).join(", ");
  return (
    <div className={classes.measure}>
      <h3>{title}</h3>
      <p className={classes.figure} data-many={drawn.length > 1 || undefined}>
        {figures}
      </p>
      <svg
        viewBox="0 0 100 100"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${figures} ${tense}, at most ${text(highest)}`}
      >
        {drawn.map(({ name, path }) => (
          <path key={name} d={path} />
        ))}
      </svg>
      <p className={classes.note} aria-hidden="true">
        <span>At most {text(highest)}</span>
        <span>Scale to {text(top)}</span>
      </p>
    </div>
  );
}
