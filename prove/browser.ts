import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));
const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * The browser of the tests: CHROMIUM where that is set, else the headless shell that npm brings, which takes half the
 * time of a whole browser, else what the machine has. Throws where there is none.
 */
export async function browserPath(): Promise<string> {
  const { CHROMIUM: chosen } = process.env;
  const found = [chosen, chosen ? undefined : await unpacked(), ...installed].find((path) => path && runs(path));
  if (found) return found;
  throw new Error("No browser for the tests: install the package chromium, or set CHROMIUM to its path.");
}

/** Unpacked once for each version, and seen by others only when it is whole. */
async function unpacked(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(modules, "@sparticuz/chromium/package.json"), "utf8"));
  const cache = join(modules, ".cache/berth");
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const part = mkdtempSync(`${folder}-`);
    const { TMPDIR: before } = process.env;
    process.env["TMPDIR"] = part;
    const { default: chromium } = await import("@sparticuz/chromium");
    await chromium.executablePath();
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    renameSync(part, folder);
  }
  return join(folder, "chromium");
}

function runs(path: string): boolean {
  return spawnSync(path, ["--version"]).status === 0;
}

if (import.meta.main) console.log(await browserPath());
