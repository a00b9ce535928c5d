import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { browserFailures } from "./failures.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs one of the runners on these files. @returns what it wrote in report.json, and the folder */
async function report(
  runner: "vitest" | "playwright",
  args: readonly string[],
  files: Readonly<Record<string, string>>,
) {
  const folder = mkdtempSync(join(tmpdir(), "berth-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  await promisify(execFile)(join(root, "node_modules/.bin", runner), args, { cwd: folder }).catch(() => {});
  return { folder, written: JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) };
}

const withVitest = (files: Readonly<Record<string, string>>) => {
  const reporter = JSON.stringify(join(root, "scripts/tests/vitest-report.ts"));
  const config = `import { vitestReport } from ${reporter};
    export default { test: { reporters: [vitestReport("report.json")] } };`;
  return report("vitest", ["run"], { "vitest.config.ts": config, ...files });
};

const withPlaywright = (files: Readonly<Record<string, string>>) => {
  const config = 'export default { reporter: [["json", { outputFile: "report.json" }]] };';
  return report("playwright", ["test"], { "playwright.config.ts": config, ...files });
};

test("Vitest's report has each file with its seconds and tests, and what failed, where and why", async () => {
  const { folder, written } = await withVitest({
    "check.ts": `import { expect } from "vitest";
      export const check = (value: object) =>
        expect(value).toEqual({ a: 1 });`,
    "some.test.ts": `import { test } from "vitest";
      import { check } from "./check.ts";
      test("waits", async () => { await new Promise((done) => setTimeout(done, 300)); });
      test("fails", () =>
        check({ a: 2 }));
      test.skip("skipped", () => {});`,
  });
  const { files, failures, ...counts } = written;
  expect(counts).toEqual({ passed: 1, skipped: 1 });
  expect(files).toEqual([{ file: "some.test.ts", seconds: expect.any(Number), tests: 3 }]);
  expect(files[0].seconds).toBeGreaterThan(0.29);
  expect(failures).toHaveLength(1);
  expect(failures[0].split("\n")).toEqual([
    `${folder}/some.test.ts: fails`,
    `  at ${folder}/check.ts:3, ${folder}/some.test.ts:5`,
    "  AssertionError: expected { a: 2 } to deeply equal { a: 1 }",
    ...["  - Expected", "  + Received", "    {", '  -   "a": 1,', '  +   "a": 2,', "    }"],
  ]);
});

test("Playwright's failures say where and why", async () => {
  const { folder, written } = await withPlaywright({
    "check.ts": `import { expect } from "@playwright/test";
      export const check = (value: object) =>
        expect(value, "as given").toEqual({ a: 1 });`,
    "some.spec.ts": `import { test } from "@playwright/test";
      import { check } from "./check.ts";
      test("fails", async () =>
        check({ a: 2 }));
      test("passes", () => {});`,
  });
  const failures = browserFailures(written);
  expect(failures).toHaveLength(1);
  expect(failures[0]?.split("\n").slice(0, 6)).toEqual([
    "e2e/some.spec.ts:3: fails",
    `  at ${folder}/check.ts:3, ${folder}/some.spec.ts:4`,
    "  Error: as given",
    "  expect(received).toEqual(expected) // deep equality",
    ...["  - Expected  - 1", "  + Received  + 1"],
  ]);
  expect(failures[0]).not.toContain("|");
  expect(browserFailures({ errors: [{ message: "Error: No tests found" }] })).toEqual([
    "outside any test\n  Error: No tests found",
  ]);
});
