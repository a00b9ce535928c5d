import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { newDeletedName } from "./home-store.ts";

/** Disk limits of homes, enforced by the file system: a home is a "project" of xfs. */
export interface Quota {
  /** Limits a home, files that it has already included, to this many gigabytes (10^9 bytes). Again: no-op. */
  limit(home: string, gigabytes: number): Promise<void>;
  /** For a home that is about to be deleted: its project id is free once its files are gone. absent: no-op. */
  lift(home: string): Promise<void>;
}

/** Quotas for the folders in `folder`, which is created if needed; else the reason, for the operator, why there are none. Tries one on a folder of its own. */
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
    return { missing: reasonOf(error as NodeJS.ErrnoException) };
  } finally {
    await quota.lift(trial).catch(() => {});
    await rm(join(root, trial), { recursive: true, force: true });
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "xfs_quota is not installed (package xfsprogs)";
  if (/not permitted|permission/i.test(message)) return "only root may set limits, and the server runs as another user";
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

/** The mount of a path in the kernel's table; of several at one point the last covers the others. */
export function mountOf(table: string, path: string): Mount | undefined {
  const mounts = table.split("\n").flatMap((line) => {
    const [mount, file] = line.split(" - ");
    const at = mount?.split(" ")[4]?.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
    const [type, , options] = file?.split(" ") ?? [];
    const covers = at !== undefined && (path === at || path.startsWith(at === "/" ? at : `${at}/`));
    return covers && type && options ? [{ path: at, type, options }] : [];
  });
  return mounts.reduce<Mount | undefined>(
    (best, each) => (each.path.length >= (best?.path.length ?? 0) ? each : best),
    undefined,
  );
}

/** Other programs use ids from 1 on, for example the engine for the disks of containers. */
const [firstProjectId, lastProjectId] = [2 ** 24, 2 ** 31];

/**
 * The project id is stored in the home itself, and chosen at random among the free ones of the file system. The limit is set
 * last: all files of a home that has one carry its id.
 */
function openQuota(mountPath: string, run: (command: string, args: readonly string[]) => Promise<string>): Quota {
  const assigning = new Map<string, Promise<void>>();
  // A name, not a path: xfs_quota splits its commands at blanks and has no quotes.
  const xfsQuota = (command: string) => run("xfs_quota", ["-x", "-c", command, mountPath]);
  const projectOf = async (name: string) => {
    const found = /projid = (\d+)/.exec(await run("xfs_io", ["-r", "-c", "lsproj", name]));
    if (!found) throw new Error(`xfs_io printed no project id of ${name}`);
    return Number(found[1]);
  };
  const ownProject = async (home: string) => {
    const [own, above] = [await projectOf(`./${home}`), await projectOf(".")];
    // Every new folder inherits the id of its parent.
    return own === above ? 0 : own;
  };
  const limits = async () => limitsIn(await xfsQuota("report -p -n -N -b"));

  async function assign(home: string, kilobytes: number): Promise<void> {
    const taken = await limits();
    const known = await ownProject(home);
    if (known !== 0 && taken.get(known) === kilobytes) return;
    let id = known;
    while (id === 0 || (id !== known && taken.has(id))) id = randomInt(firstProjectId, lastProjectId);
    if (!taken.get(known)) await xfsQuota(`project -s -p ./${home} ${id}`);
    await xfsQuota(`limit -p bhard=${kilobytes}k ${id}`);
  }

  return {
    limit(home, gigabytes) {
      // A home with many files takes longer than the caller's timeout: the next call waits for the same pass.
      const running = assigning.get(home) ?? assign(home, Math.ceil((gigabytes * 1e9) / 1024));
      assigning.set(home, running);
      const forget = () => void assigning.delete(home);
      running.then(forget, forget);
      return running;
    },
    async lift(home) {
      const id = await ownProject(home).catch(() => 0);
      if (id !== 0) await xfsQuota(`limit -p bhard=0 ${id}`);
    },
  };
}

/** Kilobytes (1024 bytes) by project id: 0 for a project without a limit. */
function limitsIn(report: string): Map<number, number> {
  const rows = report.matchAll(/^#(\d+)\s+\d+\s+\d+\s+(\d+)/gm);
  return new Map([...rows].map(([, id, hard]) => [Number(id), Number(hard)]));
}

/** Throws for any text on stderr: both tools exit with 0 after some of their failures. */
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
