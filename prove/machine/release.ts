import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { docker } from "../../images/docker-command.ts";

const root = join(import.meta.dirname, "../..");
const git = (...words: string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();

interface Release {
  /** Path of the archive; its checksum lies beside it. */
  readonly archive: string;
  /** Name of the container image. */
  readonly image: string;
}

interface Wanted {
  readonly withImage: boolean;
  /** Takes what lies in `dist/`, of any commit. */
  readonly isMade?: boolean;
}

/** What `npm run package [-- image]` makes of the work tree; made again only if the commit is newer or has changes. */
export async function release({ withImage, isMade = false }: Wanted): Promise<Release> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const archive = join(root, `dist/berth-${version}-${process.platform}-${process.arch}.tar.gz`);
  const image = `berth:${version}`;
  const since = git("status", "--porcelain") === "" ? Number(git("log", "-1", "--format=%ct")) * 1000 : Date.now();
  const madeAt = withImage ? await imageTime(image) : fileTime(archive);
  if (!isMade && madeAt < since) {
    const words = ["scripts/package.mjs", ...(withImage ? ["image"] : [])];
    execFileSync(process.execPath, words, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  }
  return { archive, image };
}

function fileTime(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function imageTime(name: string): Promise<number> {
  return Date.parse(await docker(["image", "inspect", "--format", "{{.Created}}", name]).catch(() => "1970-01-01"));
}
