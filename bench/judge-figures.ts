import { inTimes, inUnit, type LedgerRow, moreIsBetter, type Recorded, type Unit } from "../scripts/pages/ledger.ts";
import { type Figure, type Median, p95Of, ratioOf, spreadOf } from "./figure.ts";

/** What the measurement was made of. */
export type Circumstances = Pick<Recorded, "commit" | "date" | "machine" | "busy" | "paceMs">;

type Place = Pick<Circumstances, "machine" | "busy" | "paceMs">;

export interface Finding {
  readonly kind: "worse" | "missed" | "missing" | "new" | "unsure" | "better";
  readonly text: string;
}

/** Two runs on one machine differ by this share even if each of them is steady: of pairs less than of one sample. */
const betweenRuns = { ratio: 0.1, value: 0.5 };

/** Of the command. What is worse is accepted by recording it, what misses a promise or was not measured is not. */
export function exitCode(findings: readonly Finding[], isRecorded: boolean): 0 | 1 {
  const failing = isRecorded ? ["missed", "missing"] : ["missed", "missing", "worse"];
  return findings.some(({ kind }) => failing.includes(kind)) ? 1 : 0;
}

/**
 * Compares figures with the rows of the same benches. A figure is worse when its spread lies beyond the recorded one and its
 * median is off by more than a tenth, a half without a peer; a goal is missed when the whole spread misses it. Values without a peer are compared on
 * the recorded machine only, times and rates by its pace of then and now, their goals everywhere. Other work changes a value and
 * not its spread, and a machine without a recorded pace may have been another one: then nobody is sure of it.
 */
export function judgeFigures(rows: readonly LedgerRow[], figures: readonly Figure[], now: Place): Finding[] {
  const found = new Map(figures.map((figure) => [figure.name, figure]));
  const known = rows.flatMap((row) => {
    const figure = found.get(row.figure);
    if (!figure) return [{ kind: "missing" as const, text: `${row.figure}: not measured` }];
    return [...compare(row, figure, now), ...judgeGoals(row, figure, now)];
  });
  const names = new Set(rows.map((row) => row.figure));
  const more = figures.filter(({ name }) => !names.has(name));
  return [...known, ...more.map(({ name }) => ({ kind: "new" as const, text: `${name}: not in the ledger` }))];
}

function compare({ figure, unit, last }: LedgerRow, found: Figure, { machine, busy, paceMs }: Place): Finding[] {
  const ratio = ratioOf(found);
  const before = ratio ? last?.ratio : last?.value;
  if (!last || before === undefined) return [{ kind: "new", text: `${figure}: nothing to compare with is recorded` }];
  if (!ratio && last.machine !== machine) return [];
  const spread = ratio ?? spreadOf(found.samples);
  const due = ratio ? 1 : byPace(unit, last.paceMs, paceMs);
  const change = changeOf(
    spread,
    { mid: before * due, low: last.low * due, high: last.high * due },
    ratio ? "ratio" : "value",
  );
  if (change === "within") return [];
  const show = shower(ratio ? undefined : unit);
  const slower = due === 1 ? "" : `, on a machine whose pace makes ${inTimes(due)} of it`;
  const text = `${figure}: ${show(spread)}, before ${show({ ...last, mid: before })} at ${last.commit}${slower}`;
  if ((change === "above") === moreIsBetter(unit)) return [{ kind: "better", text }];
  const isSure = ratio || (!busy && isPaced(unit, last));
  return [{ kind: isSure ? "worse" : "unsure", text }];
}

function changeOf(found: Median, before: Median, kind: keyof typeof betweenRuns): "above" | "below" | "within" {
  if (Math.abs(found.mid - before.mid) <= Math.abs(before.mid) * betweenRuns[kind]) return "within";
  if (found.low > before.high) return "above";
  return found.high < before.low ? "below" : "within";
}

/** Units that are as much more, or less, as the machine is slower. A share is of its processors' time. */
const timed: ReadonlySet<Unit> = new Set(["ms", "us", "%", "1/s", "MB/s"]);

const isPaced = (unit: Unit, last: Recorded) => last.paceMs !== undefined || !timed.has(unit);

/** What a value becomes where the machine's pace alone has changed. */
function byPace(unit: Unit, before: number | undefined, now: number | undefined): number {
  if (!timed.has(unit) || before === undefined || now === undefined) return 1;
  return moreIsBetter(unit) ? before / now : now / before;
}

function judgeGoals({ figure, unit, goalRatio, goalValue }: LedgerRow, found: Figure, { busy }: Place): Finding[] {
  const ratio = ratioOf(found);
  const value =
    goalValue === undefined ? [] : judgeGoal(figure, unit, spreadOf(found.samples), goalValue, shower(unit));
  if (goalRatio !== undefined && !ratio) return [{ kind: "missing", text: `${figure}: measured without its peer` }];
  return [
    ...(ratio && goalRatio !== undefined ? judgeGoal(figure, unit, ratio, goalRatio, shower(undefined)) : []),
    ...value.map((finding) => (busy ? { ...finding, kind: "unsure" as const } : finding)),
  ];
}

function judgeGoal(name: string, unit: Unit, found: Median, goal: number, show: (found: Median) => string): Finding[] {
  const least = moreIsBetter(unit);
  const reaches = (value: number) => (least ? value >= goal : value <= goal);
  if (reaches(found.mid)) return [];
  const bound = show({ mid: goal, low: goal, high: goal });
  const text = `${name}: ${show(found)}, promised ${least ? "at least" : "at most"} ${bound}`;
  return [{ kind: reaches(least ? found.high : found.low) ? "unsure" : "missed", text }];
}

/** Ratios without a unit. */
function shower(unit: Unit | undefined) {
  const one = (value: number) => (unit === undefined ? inTimes(value) : inUnit(value, unit));
  return ({ mid, low, high }: Median) => (low === high ? one(mid) : `${one(mid)} (${one(low)} to ${one(high)})`);
}

/** The rows with what was measured now. What is promised stays, and so do figures that were not measured. */
export function record(
  rows: readonly LedgerRow[],
  bench: string,
  figures: readonly Figure[],
  made: Circumstances,
): LedgerRow[] {
  const found = new Map(figures.map((figure) => [figure.name, figure]));
  const kept = rows.map((row) => {
    const figure = found.get(row.figure);
    found.delete(row.figure);
    return figure ? { ...row, ...aboutOf(figure), last: recorded(figure, made) } : row;
  });
  const more = [...found.values()].map((figure) => ({
    ...{ figure: figure.name, bench },
    ...aboutOf(figure),
    last: recorded(figure, made),
  }));
  return [...kept, ...more];
}

const aboutOf = ({ unit, beside }: Figure) => ({ unit, ...(beside !== undefined && { beside }) });

function recorded(figure: Figure, made: Circumstances): Recorded {
  const ratio = ratioOf(figure);
  const p95 = p95Of(figure);
  const { low, high } = ratio ?? spreadOf(figure.samples);
  return {
    value: short(spreadOf(figure.samples).mid),
    ...(p95 !== undefined && { p95: short(p95) }),
    ...(ratio && figure.peer && { besideValue: short(spreadOf(figure.peer).mid), ratio: short(ratio.mid) }),
    ...{ low: short(low), high: short(high), samples: figure.samples.length, ...made },
  };
}

const short = (value: number) => Number(value.toPrecision(4));
