import { expect, test } from "vitest";
import type { LedgerRow, Recorded } from "../scripts/pages/ledger.ts";
import type { Figure } from "./figure.ts";
import { exitCode, judgeFigures, record } from "./judge-figures.ts";

const machine = "two cores";
const last: Recorded = {
  ...{ value: 320, besideValue: 1000, ratio: 0.32, low: 0.3, high: 0.34, samples: 8 },
  ...{ busy: false, commit: "e1a82f0", date: "2026-11-24", machine },
};
const launch: LedgerRow = { figure: "launch, cold", bench: "launch", unit: "ms", beside: "by hand", last };
const reads: LedgerRow = {
  ...{ figure: "reads", bench: "reads", unit: "1/s", beside: "the peer", goalRatio: 10 },
  last: { ...last, value: 8600, besideValue: 430, ratio: 20, low: 19, high: 21 },
};

/** Eight pairs whose ratios differ by as much on both sides. */
function figure(row: LedgerRow, ratio: number, spread = 0.02): Figure {
  const shares = [-3, -2, -1, 0, 0, 1, 2, 3].map((step) => ratio + (step / 3) * spread);
  return {
    ...{ name: row.figure, unit: row.unit, beside: row.beside ?? "" },
    ...{ samples: shares.map((share) => share * 1000), peer: shares.map(() => 1000) },
  };
}

const judge = (rows: readonly LedgerRow[], ...figures: readonly Figure[]) =>
  judgeFigures(rows, figures, { machine, busy: false });

test("a figure that is worse beyond its spread fails, with its name, before, now and spreads", () => {
  const findings = judge([launch], figure(launch, 0.89));
  const text = "launch, cold: 0.89x (0.87x to 0.91x), before 0.32x (0.30x to 0.34x) at e1a82f0";
  expect(findings).toEqual([{ kind: "worse", text }]);
  expect(exitCode(findings, false)).toBe(1);
  expect(exitCode(findings, true)).toBe(0);
});

test("a rate is worse when it is less", () => {
  expect(judge([reads], figure(reads, 15, 0.5))).toMatchObject([{ kind: "worse" }]);
  expect(judge([reads], figure(reads, 26, 0.5))).toMatchObject([{ kind: "better" }]);
  expect(judge([launch], figure(launch, 0.2))).toMatchObject([{ kind: "better" }]);
});

test.each([
  ["spreads that touch", 0.45, 0.12],
  ["a median off by less than a tenth, however steady", 0.345, 0.001],
])("within: %s", (_, ratio, spread) => {
  expect(judge([launch], figure(launch, ratio, spread))).toEqual([]);
});

test("a figure that was not measured fails by name, and one that is not in the ledger is named", () => {
  const findings = judge([launch, reads], figure(launch, 0.32), figure({ ...launch, figure: "more" }, 1));
  expect(findings).toEqual([
    { kind: "missing", text: "reads: not measured" },
    { kind: "new", text: "more: not in the ledger" },
  ]);
  expect(findings.map((finding) => exitCode([finding], true))).toEqual([1, 0]);
});

test("a ratio is not compared with a value that was recorded without one", () => {
  const { ratio: _, ...alone } = last;
  for (const row of [
    { ...launch, last: alone },
    { figure: launch.figure, bench: "launch", unit: launch.unit },
  ])
    expect(judge([row], figure(launch, 0.89))).toMatchObject([{ kind: "new" }]);
});

test("a promise fails where the whole spread misses it, and is only unsure where a part does", () => {
  const promised: LedgerRow = { ...launch, goalRatio: 0.3, last: { ...last, ratio: 0.4, low: 0.2, high: 0.6 } };
  const missed = judge([promised], figure(promised, 0.35));
  const text = "launch, cold: 0.35x (0.33x to 0.37x), promised at most 0.30x";
  expect(missed).toEqual([{ kind: "missed", text }]);
  expect(exitCode(missed, true)).toBe(1);
  const unsure = judge([promised], figure(promised, 0.31));
  expect(unsure).toMatchObject([{ kind: "unsure" }]);
  expect(exitCode(unsure, false)).toBe(0);
  expect(judge([promised], figure(promised, 0.3))).toEqual([]);
});

test("a promise of a value is judged beside that of the ratio", () => {
  const promised: LedgerRow = { ...launch, goalRatio: 0.55, goalValue: 300 };
  expect(judge([promised], figure(promised, 0.35))).toEqual([
    { kind: "missed", text: "launch, cold: 350 ms (330 ms to 370 ms), promised at most 300 ms" },
  ]);
});

test("a peer that is gone is missing, not better", () => {
  const { peer: _, ...alone } = figure(reads, 20);
  expect(judge([reads], alone)).toContainEqual({ kind: "missing", text: "reads: measured without its peer" });
});

test("a value without a peer is compared on the recorded machine only, its promise everywhere", () => {
  const row: LedgerRow = {
    ...{ figure: "memory", bench: "fleet", unit: "MB", goalValue: 300 },
    last: { value: 200, low: 200, high: 200, samples: 1, busy: false, commit: "e1a82f0", date: "2026-11-24", machine },
  };
  const more: Figure = { name: "memory", unit: "MB", samples: [301] };
  expect(judge([{ ...row, goalValue: 400 }], more)).toMatchObject([{ kind: "worse" }]);
  expect(judge([row], { ...more, samples: [299] })).toEqual([]);
  expect(judgeFigures([{ ...row, goalValue: 400 }], [more], { machine: "another", busy: false })).toEqual([]);
  expect(judgeFigures([row], [more], { machine: "another", busy: false })).toMatchObject([{ kind: "missed" }]);
});

test("beside other work nobody is sure of a value; a ratio tells by its spread", () => {
  const row: LedgerRow = { ...launch, goalValue: 300 };
  const alone: LedgerRow = {
    figure: "memory",
    bench: "fleet",
    unit: "MB",
    last: { ...last, value: 200, low: 200, high: 200 },
  };
  const figures = [figure(row, 0.89), { name: "memory", unit: "MB", samples: [350] } as const];
  const findings = judgeFigures([row, alone], figures, { machine, busy: true });
  expect(findings.map(({ kind, text }) => [kind, text.split(" (")[0]])).toEqual([
    ["worse", "launch, cold: 0.89x"],
    ["unsure", "launch, cold: 890 ms"],
    ["unsure", "memory: 350 MB, before 200 MB at e1a82f0"],
  ]);
});

test("recording keeps what is promised and what was not measured", () => {
  const made = { commit: "1234567", date: "2026-12-01", machine, busy: true };
  const promised = { ...launch, goalRatio: 0.3 };
  const rows = record(
    [promised, reads],
    "launch",
    [figure(launch, 0.25), figure({ ...launch, figure: "more" }, 1)],
    made,
  );
  expect(rows).toHaveLength(3);
  expect(rows[0]).toEqual({
    ...promised,
    last: { ...made, value: 250, besideValue: 1000, ratio: 0.25, low: 0.23, high: 0.27, samples: 8 },
  });
  expect(rows[1]).toBe(reads);
  expect(rows[2]).toMatchObject({ figure: "more", bench: "launch", unit: "ms", beside: "by hand" });
  expect(judge(rows, figure(launch, 0.25), figure({ ...launch, figure: "more" }, 1), figure(reads, 20))).toEqual([]);
});

test("a value without a peer is set beside the machine's pace of then and now", () => {
  const pass: LedgerRow = { figure: "pass", bench: "fleet", unit: "ms" };
  const { ratio: _, besideValue: __, ...value } = last;
  const row = { ...pass, last: { ...value, value: 400, low: 380, high: 420, paceMs: 20 } };
  const found = (mid: number) => ({ name: "pass", unit: pass.unit, samples: Array(8).fill(mid) });
  const at = (paceMs: number, mid: number) => judgeFigures([row], [found(mid)], { machine, busy: false, paceMs });
  expect(at(60, 1200)).toEqual([]);
  expect(at(60, 2400)).toEqual([
    {
      kind: "worse",
      text: "pass: 2.4 s, before 400 ms (380 ms to 420 ms) at e1a82f0, on a machine whose pace makes 3.00x of it",
    },
  ]);
  expect(at(20, 1200)).toMatchObject([{ kind: "worse" }]);
  const { paceMs: ___, ...unpaced } = row.last;
  expect(judgeFigures([{ ...pass, last: unpaced }], [found(1200)], { machine, busy: false, paceMs: 20 })).toMatchObject(
    [{ kind: "unsure" }],
  );
});
