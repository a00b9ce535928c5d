import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Lints a tree of planted files under the project's own rules. */
function lint(files: Readonly<Record<string, string>>): { failed: boolean; output: string } {
  const folder = mkdtempSync(join(tmpdir(), "berth-planted-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, "biome.json"), join(folder, "biome.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/biome"), ["lint", "."], {
    cwd: folder,
    encoding: "utf8",
  });
  return { failed: status !== 0, output: stdout + stderr };
}

test("a cycle is refused", () => {
  const { failed, output } = lint({
    "server/src/http/one.ts": 'export { two } from "./two.ts";\nexport const one = 1;\n',
    "server/src/http/two.ts": 'export { one } from "./one.ts";\nexport const two = 2;\n',
  });
  expect(output).toContain("noImportCycles");
  expect(failed).toBe(true);
});

test("only main reads the process environment", () => {
  const planted = "export const home = process.env.HOME;\n";
  expect(lint({ "server/src/http/planted.ts": planted }).output).toContain("noProcessEnv");
  expect(lint({ "server/src/main.ts": planted }).output).not.toContain("noProcessEnv");
});

/** Runs the check of the coverage page on a planted page beside one test file. */
function cover(page: string): { failed: boolean; output: string } {
  const folder = mkdtempSync(join(tmpdir(), "berth-coverage-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/spec-coverage.md"), page);
  writeFileSync(join(folder, "one.test.ts"), 'test("one is shown", () => expect("Failed to pause container"));\n');
  mkdirSync(join(folder, "server"));
  writeFileSync(
    join(folder, "server/money.test.ts"),
    'test("C1 a: b", () => {});\ntest.each([1])(\n  "C2 %s", () => {},\n);\n',
  );
  const check = join(root, "scripts/check-coverage.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [check, folder], { encoding: "utf8" });
  return { failed: status !== 0, output: stdout + stderr };
}

const proof = '`one.test.ts` › "one is shown"';
const decisions = `## Decisions\nG1 to G2.\n\n| G | What | Shown by |\n|---|---|---|\n| G1 | a | ${proof} |\n`;
const messages = `## Messages of section 8\n\`\`\`text\nFailed to {action} container\n\`\`\`\n\n| Text | Where | Shown by |\n|---|---|---|\n`;
const cases = "\n## Cases of money\nC1 to C2.\n";
const second = "| G2 | b | Later: Docker, because it needs one |\n";
const message = `| Failed to {action} container | list | ${proof} |\n`;

test("a coverage page without a hole passes", () => {
  expect(cover(`${decisions}${second}\n${messages}${message}${cases}`)).toEqual({ failed: false, output: "" });
});

test.each([
  ["a G-number without a row", `${decisions}\n${messages}${message}`, "G2 has no row"],
  [
    "a message without a row",
    `${decisions}${second}\n${messages}`,
    "the message Failed to {action} container has no row",
  ],
  ["a row without proof", `${decisions}| G2 | b | soon |\n\n${messages}${message}`, "G2 has no proof"],
  ["an empty row", `${decisions}| G2 | b | |\n\n${messages}${message}`, "G2 has no proof"],
  [
    "a file that is not there",
    `${decisions}| G2 | b | \`two.test.ts\` › "one is shown" |\n\n${messages}${message}`,
    "names two.test.ts, which is not there",
  ],
  [
    "a title that is not there",
    `${decisions}| G2 | b | \`one.test.ts\` › "two is shown" |\n\n${messages}${message}`,
    'names "two is shown", which one.test.ts does not have',
  ],
  [
    "a message that its test does not say",
    `${decisions}${second}\n${messages}${message}| Failed to log out | header | ${proof} |\n`,
    "Failed to log out stands in no named test",
  ],
  ["a page that does not say which numbers there are", `${messages}${message}`, "does not say which G-numbers"],
  [
    "a case that no test's title begins with",
    `${decisions}${second}\n${messages}${message}${cases.replace("C2", "C3")}`,
    "no test's title begins with C3",
  ],
  ["a page without the cases", `${decisions}${second}\n${messages}${message}`, "does not say which C-numbers"],
])("the coverage check refuses %s", (_, page, hole) => {
  const { failed, output } = cover(page);
  expect(output).toContain(hole);
  expect(failed).toBe(true);
});
