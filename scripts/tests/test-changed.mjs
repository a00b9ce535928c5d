// The checks, and the tests of what changed since a commit (HEAD), side by side; scripts/test-changed.mjs installs first.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sourceFiles } from "../checks/source-files.ts";
import { buildWeb, root } from "../setup.mjs";
import { checks } from "./checks.mjs";
import { relatedTests } from "./related-tests.ts";
import { bin, runSideBySide, runStep } from "./run-steps.mjs";

const since = process.argv[2] ?? "HEAD";
const added = git("ls-files", "--others", "--exclude-standard");
const changed = [...git("diff", "--name-only", since), ...added];
const paths = [...git("ls-files"), ...added].filter((path) => existsSync(join(root, path)));
const { unit, browser, further } = relatedTests(changed, sourceFiles(root), paths);

console.log(
  `${changed.length} files differ from ${since}; ${unit.length} files of tests and ${browser.length} in the browser`,
);
const failed = await runSideBySide([
  ...(unit.length > 0 ? [{ name: "tests", command: bin("vitest"), args: ["run", ...unit] }] : []),
  ...checks,
]);
if (browser.length > 0) {
  buildWeb();
  const args = ["test", "--config", "e2e/playwright.config.ts", ...browser];
  if (!(await runStep({ name: "browser", command: bin("playwright"), args }))) failed.push("browser");
}
const left =
  further > 0 ? `; ${further} files of tests that reach the change from farther away are left to npm test` : "";
console.log(`\n${failed.length > 0 ? `failed: ${failed.join(", ")}` : "ok"}${left}`);
process.exit(failed.length > 0 ? 1 : 0);

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status === 0) return stdout.split("\n").filter(Boolean);
  console.error(stderr.trim());
  process.exit(1);
}
