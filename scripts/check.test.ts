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

test.each([
  ["server/src/database/planted.ts", "../payments/orders.ts"],
  ["server/src/environments/planted.ts", "../payments/settle.ts"],
  ["server/src/http/planted.ts", "../environments/plan.ts"],
  ["server/src/payments/embedded-gateway/planted.ts", "../../gateway/gateway.ts"],
  ["server/src/app.ts", "./main.ts"],
  ["web/src/ui/planted.ts", "../environments/filters.ts"],
  ["web/src/launch/planted.ts", "../shell/shell.tsx"],
])("%s may not import %s, which stands to its right", (path, target) => {
  const { failed, output } = lint({ [path]: `export { x } from "${target}";\n` });
  expect(output).toContain("noRestrictedImports");
  expect(failed).toBe(true);
});

test("an import to the left is fine", () => {
  const { output } = lint({ "server/src/payments/planted.ts": 'export { x } from "../environments/launch.ts";\n' });
  expect(output).not.toContain("noRestrictedImports");
});

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
