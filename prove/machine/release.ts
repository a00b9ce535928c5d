import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const git = (...words: string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();

/**
 * The archive that `npm run package` makes of the work tree; its checksum lies beside it. It is made again only if the commit
 * is newer or has changes. @param isMade takes what lies in `dist/`, of any commit
 */
export async function release({ isMade }: { readonly isMade: boolean }): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const archive = join(root, `dist/berth-${version}-${process.platform}-${process.arch}.tar.gz`);
  const since = git("status", "--porcelain") === "" ? Number(git("log", "-1", "--format=%ct")) * 1000 : Date.now();
  const madeAt = statSync(archive, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (!isMade && madeAt < since)
    execFileSync(process.execPath, ["scripts/package.mjs"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  return archive;
}
