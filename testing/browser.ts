import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * The browser of the tests: the headless shell that npm brings, which takes half the time of a whole browser, else what
 * the machine has. Throws where there is none.
 */
export function browserPath(): string {
  const found = [unpacked(), ...installed].find((path) => spawnSync(path, ["--version"]).status === 0);
  if (found) return found;
  throw new Error("No browser for the tests: install the package chromium, or set CHROMIUM to its path.");
}

/** Unpacked once for each version, and seen by others only when it is whole. */
function unpacked(): string {
  const manifest = new URL("../package.json", import.meta.resolve("@sparticuz/chromium"));
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const cache = `${root}node_modules/.cache/berth/`;
  const folder = `${cache}chromium-${version}`;
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const part = mkdtempSync(`${folder}-`);
    // The package knows no other place than the temporary folder.
    const unpack = 'await (await import("@sparticuz/chromium")).default.executablePath()';
    const args = ["--input-type=module", "--eval", unpack];
    spawnSync(process.execPath, args, { cwd: root, env: { TMPDIR: part }, stdio: "inherit" });
    renameSync(part, folder);
  }
  return `${folder}/chromium`;
}

if (import.meta.main) console.log(browserPath());
