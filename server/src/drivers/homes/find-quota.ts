import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { newDeletedName } from "./local-homes.ts";

/** What the file system lets each home take, kept by the file system itself: a home is a "project" of xfs. */
export interface Quota {
  /** The home, with all that is in it already, takes at most so many gigabytes (10^9 bytes) from now on. Again: no-op. */
  limit(home: string, gigabytes: number): Promise<void>;
  /** A home that is about to be deleted: its number is free once its files have gone. absent: no-op. */
  lift(home: string): Promise<void>;
}

/** Limits for the folders right in `folder`, which is made if needed, or in words for the operator why there are none. Tried once, on a folder of its own. */
export async function findQuota(
  folder: string,
  toolsAt = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin",
): Promise<Quota | { readonly missing: string }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  const mount = mountOf(await readFile("/proc/self/mountinfo", "utf8").catch(() => ""), root);
  if (mount?.type !== "xfs") return { missing: `${root} is not on xfs` };
  if (!/(^|,)(prjquota|pquota)(,|$)/.test(mount.options))
    return { missing: `${mount.path} is mounted without prjquota` };
  const quota = openQuota(mount.path, (command, args) => run(command, args, { cwd: root, path: toolsAt }));
  const trial = newDeletedName();
  try {
    await mkdir(join(root, trial));
    await quota.limit(trial, 0.001);
    if (await holds(join(root, trial, "file"), 2_000_000)) return { missing: `${mount.path} does not keep its limits` };
    return quota;
  } catch (error) {
    return { missing: wordsOf(error as NodeJS.ErrnoException) };
  } finally {
    await quota.lift(trial).catch(() => {});
    await rm(join(root, trial), { recursive: true, force: true });
  }
}

function wordsOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "xfs_quota is not installed (package xfsprogs)";
  if (/not permitted|permission/i.test(message))
    return "only root may set limits, and the server runs as somebody else";
  return message.trim();
}

async function holds(file: string, bytes: number): Promise<boolean> {
  try {
    await writeFile(file, Buffer.alloc(bytes), { flush: true });
    return true;
  } catch (error) {
    if (["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

interface Mount {
  readonly path: string;
  readonly type: string;
  readonly options: string;
}

/** The line of the kernel's table that a path lies under; of several at one place the last covers the others. */
export function mountOf(table: string, path: string): Mount | undefined {
  const mounts = table.split("\n").flatMap((line) => {
    const [place, file] = line.split(" - ");
    const at = place?.split(" ")[4]?.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
    const [type, , options] = file?.split(" ") ?? [];
    const covers = at !== undefined && (path === at || path.startsWith(at === "/" ? at : `${at}/`));
    return covers && type && options ? [{ path: at, type, options }] : [];
  });
  return mounts.reduce<Mount | undefined>(
    (best, each) => (each.path.length >= (best?.path.length ?? 0) ? each : best),
    undefined,
  );
}

/** Below are those of other programs, such as the engine's own for the disks of containers, counted from 1. */
const [leastNumber, mostNumber] = [2 ** 24, 2 ** 31];

/**
 * A home carries its number itself, so whatever restarts finds it, and it is drawn among those that nothing on the file
 * system has. A limit is set last: a home that has one is numbered through and through.
 */
function openQuota(mountPath: string, run: (command: string, args: readonly string[]) => Promise<string>): Quota {
  const numbering = new Map<string, Promise<void>>();
  // A name, not a path: xfs_quota splits its commands at blanks, and knows no quotes.
  const xfsQuota = (command: string) => run("xfs_quota", ["-x", "-c", command, mountPath]);
  const numberOf = async (name: string) => {
    const found = /projid = (\d+)/.exec(await run("xfs_io", ["-r", "-c", "lsproj", name]));
    if (!found) throw new Error(`xfs_io does not say which project ${name} is`);
    return Number(found[1]);
  };
  const ownNumber = async (home: string) => {
    const [own, above] = [await numberOf(`./${home}`), await numberOf(".")];
    // Whoever numbered the root gave its number to every folder that is made in it.
    return own === above ? 0 : own;
  };
  const limits = async () => limitsIn(await xfsQuota("report -p -n -N -b"));

  async function number(home: string, kilobytes: number): Promise<void> {
    const taken = await limits();
    const known = await ownNumber(home);
    if (known !== 0 && taken.get(known) === kilobytes) return;
    let id = known;
    while (id === 0 || (id !== known && taken.has(id))) id = randomInt(leastNumber, mostNumber);
    if (!taken.get(known)) await xfsQuota(`project -s -p ./${home} ${id}`);
    await xfsQuota(`limit -p bhard=${kilobytes}k ${id}`);
  }

  return {
    limit(home, gigabytes) {
      // A home with many files takes longer than its caller waits: whoever comes again waits for the same pass.
      const going = numbering.get(home) ?? number(home, Math.ceil((gigabytes * 1e9) / 1024));
      numbering.set(home, going);
      const forget = () => void numbering.delete(home);
      going.then(forget, forget);
      return going;
    },
    async lift(home) {
      const id = await ownNumber(home).catch(() => 0);
      if (id !== 0) await xfsQuota(`limit -p bhard=0 ${id}`);
    },
  };
}

/** Kilobytes (1024) by project: 0 where it only has files. */
function limitsIn(report: string): Map<number, number> {
  const rows = report.matchAll(/^#(\d+)\s+\d+\s+\d+\s+(\d+)/gm);
  return new Map([...rows].map(([, id, hard]) => [Number(id), Number(hard)]));
}

/** Both tools end with 0 after some of their failures; what they complain of is on the other stream. */
async function run(
  command: string,
  args: readonly string[],
  { cwd, path }: { readonly cwd: string; readonly path: string },
): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(command, [...args], { cwd, env: { PATH: path, LC_ALL: "C" } });
  const complaints = stderr.split("\n").filter((line) => line !== "" && !/skipping special file/.test(line));
  if (complaints.length > 0) throw new Error(`${basename(command)}: ${complaints[0]}`);
  return stdout;
}
