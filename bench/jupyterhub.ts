import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./processes.ts";

/** The peer of launches and reads. */
export const hubPackage = "jupyterhub==6.1.1";

/** Installs JupyterHub into the cache once, with more packages; returns the path of its program. */
export function installHub(more: readonly string[] = []): string {
  const folder = join(cacheFolder, ["jupyterhub", ...more].join("-").replaceAll("==", "-"));
  const program = join(folder, "bin", "jupyterhub");
  if (existsSync(program)) return program;
  mkdirSync(cacheFolder, { recursive: true });
  execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
  execFileSync(join(folder, "bin", "pip"), ["install", "--quiet", hubPackage, ...more], { stdio: "inherit" });
  return program;
}
