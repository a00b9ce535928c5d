import { expect, test } from "vitest";
import { browserFiles, slowestFiles } from "./slowest-files.mjs";

test("the slowest twenty files, of Vitest's report and of Playwright's", () => {
  const browser = browserFiles([
    { file: "a.spec.ts", specs: [spec(900, 600)], suites: [{ file: "a.spec.ts", specs: [spec(2000)] }] },
  ]);
  const unit = Array.from({ length: 25 }, (_, index) => ({ file: `${index}.test.ts`, seconds: index / 10, tests: 1 }));
  const lines = slowestFiles([...unit, ...browser]);
  expect(lines.slice(0, 3)).toEqual([
    "seconds  tests  file",
    "    3.5      2  e2e/a.spec.ts",
    "    2.4      1  24.test.ts",
  ]);
  expect(lines).toHaveLength(21);
});

/** One test with the durations of its tries. */
function spec(...durations: number[]) {
  return { ok: true, tests: [{ results: durations.map((duration) => ({ duration })) }] };
}
