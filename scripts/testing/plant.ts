import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export const root = join(import.meta.dirname, "../..");

/** Writes the files to a temporary folder. */
export function plant(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-check-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export function run(program: string, args: readonly string[], cwd = root): { failed: boolean; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  return { failed: status !== 0, output: stdout + stderr };
}
