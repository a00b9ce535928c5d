import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * Path of the tests' browser: the headless shell of the npm package, which is twice as fast as a whole browser, else an
 * installed one. @throws if there is none
 */
export function browserPath(): string {
  const found = [unpacked(), ...installed].find((path) => spawnSync(path, ["--version"]).status === 0);
  if (found) return found;
  throw new Error("No browser for the tests: install the package chromium, or set CHROMIUM to its path.");
}

/** Unpacks each version once; renamed at the end, so that other processes never see a partial copy. */
function unpacked(): string {
  const manifest = new URL("../package.json", import.meta.resolve("@sparticuz/chromium"));
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const cache = `${root}node_modules/.cache/berth/`;
  const folder = `${cache}chromium-${version}`;
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const part = mkdtempSync(`${folder}-`);
    // The package can unpack only into the temporary folder.
    const unpack = 'await (await import("@sparticuz/chromium")).default.executablePath()';
    const args = ["--input-type=module", "--eval", unpack];
    spawnSync(process.execPath, args, { cwd: root, env: { TMPDIR: part }, stdio: "inherit" });
    renameSync(part, folder);
  }
  return `${folder}/chromium`;
}

if (import.meta.main) console.log(browserPath());
