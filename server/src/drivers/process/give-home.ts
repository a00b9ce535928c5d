import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { promisify } from "node:util";
import type { Logger } from "../../logging/create-logger.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Who runs are outside; says so where that is root. */
export function ownerOfRuns(user: number | undefined, log: Logger): Owner {
  const [uid, gid] = user === undefined ? [process.getuid?.() ?? 0, process.getgid?.() ?? 0] : [user, user];
  if (uid === 0) log.warn({ event: "host.unfit" }, rootWarning);
  return { uid, gid };
}

const rootWarning =
  "environments are processes of root on this machine, because bubblewrap could not give them a user of their own: start the server as another user, or with RUNTIME=docker.";

/**
 * Gives a home and all in it to the user that runs have now, where the server is root: it may have been another one before.
 * chown does the folder itself last, so what was cut short is done again.
 */
export async function giveHome(path: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0 || (await lstat(path)).uid === uid) return;
  await promisify(execFile)("chown", ["-R", "-P", "-h", "--", `${uid}:${gid}`, path]);
}
