import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lchownSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { EmbeddedDatabaseError } from "../embedded-database-error.ts";

type Run = (program: string, args: readonly string[], input?: string) => ChildProcess;

/** Who the programs of the embedded database run as. */
export interface EmbeddedAccount {
  /** Of the folders' owner, as this process sees it. */
  readonly uid: number;
  /** initdb and `postgres --single` look their user up, so this one has an account on every machine. */
  readonly setUp: Run;
  readonly serve: Run;
  /** Gives the folders to the account of `setUp`, before, or to that of `serve`, after. */
  give(to: "setUp" | "serve"): void;
}

const nobody = 65_534;
/** Of a range that no distribution gives to accounts (systemd's "Users, Groups, UIDs and GIDs"), and so nobody else's. */
const ownUid = 60_943;

/** Uids that a folder of the database may belong to where the server is root. */
export const embeddedUids: readonly number[] = [0, nobody, ownUid];

/**
 * PostgreSQL refuses root. Where the server is root it runs as a user of its own, which owns nothing else: what takes the
 * database over reads no file of root (G311). Where that user cannot reach the folders, such as below /root, it is root's own
 * uid in a user namespace.
 */
export async function embeddedAccount(folders: readonly string[], programs: string): Promise<EmbeddedAccount> {
  const own = process.getuid?.() ?? 0;
  if (own !== 0) return { uid: own, setUp: starter({}), serve: starter({}), give() {} };
  refuseOthers(folders[0] ?? "");
  if (isReachable(folders[0] ?? "", programs) && canGive(folders)) {
    const ownerOf = { setUp: nobody, serve: ownUid };
    return {
      uid: ownUid,
      setUp: starter({ uid: nobody, gid: nobody }),
      serve: starter({ uid: ownUid, gid: ownUid }),
      give: (to) => giveAll(folders, ownerOf[to]),
    };
  }
  const namespace = ["unshare", "--user", `--map-user=${nobody}`, `--map-group=${nobody}`];
  const probe = spawn("unshare", [...namespace.slice(1), "true"], { stdio: "ignore" });
  // `once` rejects if unshare is not installed.
  const [code] = await once(probe, "exit").catch(() => [1]);
  if (code !== 0)
    throw new EmbeddedDatabaseError(
      `The embedded database cannot run as root, and another user cannot reach ${folders[0]}: put DATA_DIR and the program where other users may enter, such as /var/lib and /opt.`,
    );
  const run = starter({}, namespace);
  return { uid: 0, setUp: run, serve: run, give: () => giveAll(folders, 0) };
}

/** A command that root types beside a stopped server of another user would take the database away from it for good. */
function refuseOthers(folder: string): void {
  const { uid } = lstatSync(folder);
  if (!embeddedUids.includes(uid))
    throw new EmbeddedDatabaseError(
      `${folder} belongs to the user ${uid}: run this as that user, or give the folder to root with chown -R root.`,
    );
}

function starter(as: { readonly uid?: number; readonly gid?: number }, before: readonly string[] = []): Run {
  return (program, args, input) => {
    const [first = program, ...rest] = [...before, program, ...args];
    const stdin = input === undefined ? "ignore" : "pipe";
    const child = spawn(first, rest, { stdio: [stdin, "ignore", "pipe"], detached: true, ...as });
    // A program that has ended does not read: its fault says why.
    child.stdin?.on("error", () => {}).end(input);
    return child;
  };
}

/** The database must traverse the data folder to reach its own; it still cannot list it. */
function isReachable(folder: string, programs: string): boolean {
  const above = dirname(folder);
  if (![...foldersAbove(above), ...foldersAbove(join(programs, "postgres"))].every(isOpen)) return false;
  if (!isOpen(above)) chmodSync(above, (statSync(above).mode & 0o777) | 0o001);
  return true;
}

function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}

function isOpen(folder: string): boolean {
  return (statSync(folder).mode & 0o001) !== 0;
}

/** A container may have few uids: root is then root of that container alone. */
function canGive(folders: readonly string[]): boolean {
  try {
    for (const folder of folders) lchownSync(folder, ownUid, ownUid);
    return true;
  } catch {
    return false;
  }
}

/** Links are never followed. */
function giveAll(paths: readonly string[], uid: number): void {
  for (const path of paths) {
    const entry = lstatSync(path);
    if (entry.isDirectory())
      giveAll(
        readdirSync(path).map((name) => join(path, name)),
        uid,
      );
    if (entry.uid !== uid) lchownSync(path, uid, uid);
  }
}
