import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";

/**
 * Installs packages such as `asyncssh==2.24.1` from PyPI into a Python environment of the cache, once. Returns the folder of its
 * programs.
 */
export function pythonTool(packages: readonly string[]): string {
  const folder = join(cacheFolder, packages.join("-").replaceAll("==", "-"));
  const marker = join(folder, "installed");
  const programs = join(folder, "bin");
  if (existsSync(marker)) return programs;
  mkdirSync(cacheFolder, { recursive: true });
  execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
  execFileSync(join(programs, "pip"), ["install", "--quiet", ...packages], { stdio: "inherit" });
  writeFileSync(marker, "");
  return programs;
}
