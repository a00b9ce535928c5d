import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { browserFiles, slowestFiles } from "./slowest-files.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

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

test("Vitest's report has each file with its seconds and tests, and what failed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const report = JSON.stringify(join(root, "scripts/tests/vitest-report.ts"));
  const reporters = `reporters: [vitestReport("report.json")]`;
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `import { vitestReport } from ${report};\nexport default { test: { ${reporters} } };\n`,
  );
  const waits = "await new Promise((done) => setTimeout(done, 300));";
  writeFileSync(
    join(folder, "some.test.ts"),
    `import { expect, test } from "vitest";
    test("waits", async () => { ${waits} });
    test("fails", () => expect(1).toBe(2));
    test.skip("skipped", () => {});`,
  );
  const vitest = join(root, "node_modules/.bin/vitest");
  await promisify(execFile)(vitest, ["run"], { cwd: folder }).catch(() => {});
  const { files, ...counts } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  expect(counts).toMatchObject({ passed: 1, skipped: 1, failures: [expect.stringContaining("fails")] });
  expect(files).toEqual([{ file: "some.test.ts", seconds: expect.any(Number), tests: 3 }]);
  expect(files[0].seconds).toBeGreaterThan(0.29);
});
