import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { promisify } from "node:util";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives a home and all in it to the user that runs have now, where the server is root: it may have been another one before.
 * chown does the folder itself last, so what was cut short is done again.
 */
export async function giveHome(path: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0 || (await lstat(path)).uid === uid) return;
  await promisify(execFile)("chown", ["-R", "-P", "-h", "--", `${uid}:${gid}`, path]);
}
