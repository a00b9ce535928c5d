import { benchesOfAll, inTimes, inUnit, type LedgerRow, moreIsBetter } from "./ledger.ts";

/** docs/performance.md. */
export function performancePage(rows: readonly LedgerRow[]): string {
  const inAll = rows.filter(({ bench }) => benchesOfAll.some((each) => each === bench));
  const others = rows.filter((row) => !inAll.includes(row));
  return `<!-- This page is written by \`npm run docs\` from bench/ledger.json: never edit it. -->

# Performance

\`npm run bench -- all\` measures each figure beside a floor or a peer of the same run, in pairs, one after the other, and
compares it with \`bench/ledger.json\`. It ends with 1 and names the figure where one is worse beyond its spread, misses what
is promised, or was not measured. \`--accept\` records what was measured and writes this page. It takes at most 20 minutes on
two quiet cores, and says when they were not quiet. \`npm run bench -- NAME\` does the same for one bench.

A ratio is the median of the ratios of pairs. Its spread is the interval between two order statistics that holds the true
median in at least 95 of 100 runs, whatever the distribution is (sign test); of fewer than six pairs it is all of them. So a
busy machine makes the spread wide instead of the figure wrong. Worse is a figure whose whole spread lies beyond the recorded
one, and whose median differs by more than a tenth, as two runs on one machine may. A value without a peer is compared on the
machine it was recorded on only, by the pace of that machine then and now (a fixed piece of work, timed before each bench), may
differ by a half, and fails on a quiet machine only.

## In \`npm run bench -- all\`

${table(inAll)}

## Each by its own name

These take long, or need a cluster, an engine or the network; [how to run each](../CONTRIBUTING.md).

${table(others)}

## Where and when

${circumstances(rows)}
`;
}

function table(rows: readonly LedgerRow[]): string {
  const lines = rows.map((row) => {
    const { unit, last } = row;
    const value = [
      last ? inUnit(last.value, unit) : "not yet",
      last?.p95 !== undefined ? `p95 ${inUnit(last.p95, unit)}` : "",
    ];
    const beside = [row.beside ?? "", inUnit(last?.besideValue, unit)];
    const cells = [row.figure, list(value), list(beside, ": "), ratioOf(row), spreadOf(row), promised(row)];
    return `| ${cells.join(" | ")} | \`${row.bench}\` |`;
  });
  const head = "| Figure | Measured | Beside | Ratio | Spread | Promised | Bench |\n|---|---|---|---|---|---|---|";
  return [head, ...lines].join("\n");
}

const list = (parts: readonly string[], between = ", ") => parts.filter((part) => part !== "").join(between);

const ratioOf = ({ last }: LedgerRow) => (last?.ratio === undefined ? "" : inTimes(last.ratio));

function spreadOf({ last, unit }: LedgerRow): string {
  if (!last || last.low === last.high) return "";
  const show = (value: number) => (last.ratio === undefined ? inUnit(value, unit) : inTimes(value));
  return `${show(last.low)} to ${show(last.high)}`;
}

function promised({ unit, goalRatio, goalValue }: LedgerRow): string {
  const goals = [
    goalRatio === undefined ? "" : inTimes(goalRatio),
    goalValue === undefined ? "" : inUnit(goalValue, unit),
  ];
  const text = list(goals, ", and ");
  return text && `at ${moreIsBetter(unit) ? "least" : "most"} ${text}`;
}

function circumstances(rows: readonly LedgerRow[]): string {
  const benches = [...new Set(rows.map(({ bench }) => bench))];
  const lines = benches.flatMap((bench) => {
    const texts = rows.flatMap(({ bench: of, last }) => {
      if (of !== bench || !last) return [];
      return `| \`${bench}\` | ${last.commit} | ${last.date} | ${last.machine}${last.busy ? "; busy with other work" : ""} |`;
    });
    return [...new Set(texts)];
  });
  return ["| Bench | Commit | Date | Machine |\n|---|---|---|---|", ...lines].join("\n");
}

/**
 * A page with the figures of the ledger between its marks: `<!-- ratio of FIGURE -->0.32x<!-- -->`, with value, p95, beside or
 * ratio. Throws for a figure that the ledger does not have.
 */
export function withFigures(page: string, rows: readonly LedgerRow[]): string {
  return page.replaceAll(
    /(<!-- (\w+) of (.+?) -->).*?(?=<!-- -->)/gs,
    (_, mark: string, what: string, name: string) => {
      const row = rows.find(({ figure }) => figure === name);
      const text = row && textOf(row, what);
      if (!text) throw new Error(`the ledger has no ${what} of ${name}`);
      return `${mark}${text}`;
    },
  );
}

function textOf({ unit, last }: LedgerRow, what: string): string | undefined {
  if (what === "ratio") return last?.ratio === undefined ? undefined : inTimes(last.ratio);
  const values: Readonly<Record<string, number | undefined>> = {
    value: last?.value,
    p95: last?.p95,
    beside: last?.besideValue,
  };
  return inUnit(values[what], unit);
}
