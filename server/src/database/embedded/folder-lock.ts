import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

export interface FolderLock {
  release(): void;
}

/**
 * Locks a folder for this process; undefined while another process holds the lock. It is an flock on a file below the
 * folder: the kernel releases it when this process ends in any way, and other accounts cannot reach it. Node has no
 * flock, so flock(1) locks our descriptor. Without flock(1) (macOS) nothing is locked.
 */
export function lockFolder(folder: string): FolderLock | undefined {
  const file = openSync(join(folder, "lock"), "a", 0o600);
  const { status } = spawnSync("flock", ["-n", "3"], { stdio: ["ignore", "ignore", "ignore", file] });
  if (status !== 1) return { release: () => closeSync(file) };
  closeSync(file);
  return undefined;
}
