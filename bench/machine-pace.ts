import { median } from "./quantiles.ts";

/** Milliseconds, to a tenth, that a fixed piece of work takes on this machine just now. Values without a peer are set beside it. */
export function paceMs(): number {
  const times = Array.from({ length: 15 }, () => {
    const began = performance.now();
    fixedWork();
    return performance.now() - began;
  });
  return Math.round(median(times) * 10) / 10;
}

/** Of the kind that a server does: objects, texts, and memory that is thrown away. */
function fixedWork(): void {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    id: `row-${n}`,
    at: n * 7919,
    tags: [`${n % 13}`, `${n % 17}`],
  }));
  const read = JSON.parse(JSON.stringify(rows)) as typeof rows;
  const sorted = read.toSorted((a, b) => (a.at % 1009) - (b.at % 1009));
  if (sorted.length !== rows.length) throw new Error("rows were lost");
}
