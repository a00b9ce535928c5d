import { startVitest, type TestCase } from "vitest/node";
import type { TimeDifference } from "./access/same-time.ts";
import { thisRun, writeProof } from "./proof-page.ts";

const leastCells = 3000;

/**
 * Every route of every server for every wrong caller with every id it takes, in a drawn order; and how long foreign ids take
 * beside absent ones (P6).
 */
export async function proveAccess({ seed }: { readonly seed: number }): Promise<void> {
  const matrix = await run("server/src/system-tests/access*.test.ts", seed);
  const cells = matrix.flatMap((each) => Object.entries(each.meta().cells ?? {}));
  console.table(Object.fromEntries(cells));
  const timed = await run("prove/access/same-time.ts", seed);
  const times = timed.flatMap((each) => Object.entries(each.meta().times ?? {}));
  console.table(Object.fromEntries(times));
  const failed = [...matrix, ...timed].filter((each) => each.result().state !== "passed");
  const sum = cells.reduce((total, [, count]) => total + count, 0);
  if (matrix.length === 0 || timed.length === 0 || failed.length > 0 || sum < leastCells)
    throw new Error(`${sum} cells; failed: ${failed.map((each) => each.name).join(", ")}`);
  writeProof("access", page(seed, { sum, cells, times }));
}

async function run(include: string, seed: number): Promise<readonly TestCase[]> {
  const vitest = await startVitest("test", [], {
    watch: false,
    include: [include],
    provide: { wholeMatrix: { seed } },
  });
  const tests = vitest.state.getTestModules().flatMap((each) => [...each.children.allTests()]);
  await vitest.close();
  return tests;
}

interface Found {
  readonly sum: number;
  readonly cells: readonly (readonly [kind: string, count: number])[];
  readonly times: readonly (readonly [call: string, difference: TimeDifference])[];
}

function page(seed: number, { sum, cells, times }: Found): string {
  return `\`npm run prove -- access --seed ${seed}\`: ${sum} cells, 0 successes that should not be. ${thisRun()}

| Cells | Tried |
|---|---|
${cells.map(([kind, count]) => `| ${kind} | ${count} |`).join("\n")}

Foreign against absent, in a drawn turn. Where the medians of the time of 200 of each differ by 5 % or more, those of the CPU time
of the product and its database count, which has no waiting for others in it; where they do too, those of 1,000:

| Call | Difference of the medians |
|---|---|
${times.map(([call, { percent, of, samples }]) => `| \`${call}\` | ${percent.toFixed(1)} % of the ${of} of ${samples} |`).join("\n")}`;
}
