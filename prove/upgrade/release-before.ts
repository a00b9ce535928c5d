import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../../testing/environment.ts";

const root = join(import.meta.dirname, "../..");
const releases = join(root, "dist/releases");

/**
 * The main.ts of a commit, built with the packages of its own lockfile and with its own browser app. The first time takes
 * minutes; the build is kept, because a commit does not change.
 */
export function releaseBefore(commit: string): string {
  const hash = execFileSync("git", ["rev-parse", `${commit}^{commit}`], { cwd: root, encoding: "utf8" }).trim();
  const folder = join(releases, hash);
  if (!existsSync(folder)) {
    mkdirSync(releases, { recursive: true });
    const unfinished = mkdtempSync(join(releases, "unfinished-"));
    execFileSync("sh", ["-c", 'git archive "$0" | tar -x -C "$1"', hash, unfinished], { cwd: root });
    build(unfinished);
    renameSync(unfinished, folder);
  }
  return join(folder, "server/src/main.ts");
}

function build(folder: string): void {
  const script = 'import("./scripts/setup.mjs").then(({ install, buildWeb }) => { install(); buildWeb(); })';
  // With CI no package installs hooks of git.
  const env = { ...environment.shell, CI: "1" };
  execFileSync(process.execPath, ["--eval", script], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
}
