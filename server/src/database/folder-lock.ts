import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

export interface FolderLock {
  release(): void;
}

/**
 * One process holds a folder at a time; undefined while another one does. The lock belongs to an open file below the
 * folder: the kernel lets it go when this process ends in any way, and nobody outside the folder can see or take it.
 * Node cannot lock files, so flock(1) locks our own descriptor. Where it is missing (macOS) nothing is locked.
 */
export function lockFolder(folder: string): FolderLock | undefined {
  const file = openSync(join(folder, "lock"), "a", 0o600);
  const { status } = spawnSync("flock", ["-n", "3"], { stdio: ["ignore", "ignore", "ignore", file] });
  if (status !== 1) return { release: () => closeSync(file) };
  closeSync(file);
  return undefined;
}
