import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("check-citations.ts", import.meta.url));
const pages = {
  "docs/specification.md": "## 4. States\n### 4.2 Actions\n",
  "docs/decisions.md": "- **G1** One.\n- **C1** Two.\n",
  "docs/internals/reliability.md": "- **P1** Three.\n",
  "CONTRIBUTING.md": "1. **Words.**\n",
};

/** Runs the check on these four pages and one more file. */
function check(path: string, text: string): { failed: boolean; output: string } {
  const folder = mkdtempSync(join(tmpdir(), "berth-citations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries({ ...pages, [path]: text })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
  return { failed: status !== 0, output: stdout + stderr };
}

test.each([
  ["src/one.ts", "/** Spec 4 and 4.2, G1, C1, P1, CONTRIBUTING 1, docs/internals/reliability.md. */"],
  ["docs/internals/page.md", "[reliability.md](reliability.md), [decisions.md](../decisions.md), docs/decisions.md"],
  ["docs/page.md", "`docs/decisions.md`, `server/src`, a `thing.ts`"],
  ["src/two.ts", "// GPU G1, INV-C99, 0xC9, #C12, spec 4, 720 hours, in 12.C9"],
  ["node_modules/x/one.ts", "// G99"],
])("%s may cite: %s", (path, text) => {
  expect(check(path, text)).toEqual({ failed: false, output: "" });
});

const [specification, decisions] = ["docs/specification.md", "docs/decisions.md"];
test.each([
  ["a section", "src/one.ts", "// spec 4.3", `spec 4.3, which does not exist: cite a section that ${specification}`],
  ["one section of a list", "src/one.ts", "// spec 4, 4.2 and 9", "spec 4, 4.2 and 9, which does not exist"],
  ["a section in the old form", "src/one.ts", "// (spec section 4)", "write it as spec 4.2"],
  ["a decision", "src/one.sql", "-- as G2 says", `G2, which does not exist: add it to ${decisions}`],
  ["a case in a test's title", "src/one.test.ts", 'test("C2 twice", run);', "C2, which does not exist"],
  ["a promise", "docs/page.md", "Shown for P2.", "P2, which does not exist: add it to docs/internals/reliability.md"],
  ["a rule", "src/one.tsx", "/* CONTRIBUTING 2 */", "CONTRIBUTING 2, which does not exist"],
  ["a page", "src/one.ts", "// see plans.md 3", "plans.md, which does not exist: name a page of the repository"],
  ["a page by its name alone", "src/one.ts", "// see reliability.md", "reliability.md, which does not exist"],
  [
    "a file in a page",
    "docs/page.md",
    "See `server/src/gone.ts`.",
    "`server/src/gone.ts`, which does not exist: name a file",
  ],
  ["a link", "docs/page.md", "[x](internals/plans.md)", "internals/plans.md, which does not exist"],
])("a citation of %s that does not exist is refused in one sentence", (_, path, text, message) => {
  const { failed, output } = check(path, text);
  expect(output).toContain(message);
  expect(output.trim().split("\n")).toHaveLength(1);
  expect(output).toContain(`${path}:1 cites `);
  expect(failed).toBe(true);
});
