import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs `npm run operator -- --help` in a checkout with the machine's own Node. */
function operate(checkout: string) {
  const { operator } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
  return spawnSync("sh", ["-c", `${operator} --help`], { cwd: checkout, encoding: "utf8" });
}

test("before the first start the operator's commands print one sentence with the next step", () => {
  const checkout = mkdtempSync(join(tmpdir(), "berth-checkout-"));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  for (const part of ["scripts", "server/src/operator", "package.json", "package-lock.json"])
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  const { status, stdout, stderr } = operate(checkout);
  expect([status, stdout, stderr]).toEqual([
    ...[1, ""],
    "Nothing is installed here yet: start the server once (npm start), which sets everything up.\n",
  ]);
  expect(operate(root).stdout).toContain("npm run operator -- doctor");
});
