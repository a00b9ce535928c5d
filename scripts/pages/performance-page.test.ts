import { expect, test } from "vitest";
import type { LedgerRow } from "./ledger.ts";
import { performancePage, withFigures } from "./performance-page.ts";

const last = { samples: 20, busy: false, commit: "e1a82f0", date: "2026-11-24", machine: "two cores" };
const rows: readonly LedgerRow[] = [
  {
    ...{ figure: "launch, cold", bench: "launch", unit: "ms", beside: "by hand", goalRatio: 0.3, goalValue: 1500 },
    last: { ...last, value: 451, p95: 1320, besideValue: 1409, ratio: 0.32, low: 0.3, high: 0.345 },
  },
  {
    ...{ figure: "reads", bench: "reads", unit: "1/s", beside: "the peer", goalRatio: 10 },
    last: { ...last, value: 8631, besideValue: 438, ratio: 19.7, low: 19.7, high: 19.7, busy: true },
  },
  { figure: "statement", bench: "billing", unit: "ms", goalValue: 60 },
];

test("the page has each figure with its peer, spread and promise, and where it was measured", () => {
  const page = performancePage(rows);
  const [inAll = "", others = ""] = page.split("## Each by its own name");
  expect(inAll).toContain(
    "| launch, cold | 451 ms, p95 1.32 s | by hand: 1.41 s | 0.32x | 0.30x to 0.34x | at most 0.30x, and 1.5 s | `launch` |",
  );
  expect(inAll).toContain("| reads | 8,630/s | the peer: 438/s | 19.7x |  | at least 10.0x | `reads` |");
  expect(others).toContain("| statement | not yet |  |  |  | at most 60 ms | `billing` |");
  expect(others).toContain("| `launch` | e1a82f0 | 2026-11-24 | two cores |");
  expect(others).toContain("| `reads` | e1a82f0 | 2026-11-24 | two cores; busy with other work |");
});

test("marks on other pages get what the ledger has", () => {
  const page =
    "a <!-- value of launch, cold -->9 s<!-- --> of <!-- ratio of reads --><!-- -->, <!-- p95 of launch, cold -->\n<!-- -->";
  const filled = withFigures(page, rows);
  expect(filled).toBe(
    "a <!-- value of launch, cold -->451 ms<!-- --> of <!-- ratio of reads -->19.7x<!-- -->, <!-- p95 of launch, cold -->1.32 s<!-- -->",
  );
  expect(withFigures(filled, rows)).toBe(filled);
});

test.each([
  ["value of launch, cool", "a figure that is not there"],
  ["value of statement", "one that was never measured"],
  ["p95 of reads", "a percentile that was not recorded"],
  ["width of reads", "a word that means nothing"],
])("a mark with %s is refused: %s", (mark) => {
  expect(() => withFigures(`<!-- ${mark} -->1<!-- -->`, rows)).toThrow(`the ledger has no ${mark}`);
});
