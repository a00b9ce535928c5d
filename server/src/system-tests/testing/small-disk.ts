import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Defer } from "./defer.ts";

const mebibyte = 1024 * 1024;

/** A disk of 20 MiB for a folder, which can be filled; undefined where none can be mounted. */
export function smallDisk(folder: string, defer: Defer) {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=20m", "tmpfs", folder], { stdio: "pipe" });
  } catch {
    return undefined;
  }
  defer(() => void execFileSync("umount", ["-l", folder]));
  const ballast = join(folder, "ballast");
  return {
    fill: () => writeFileSync(ballast, Buffer.alloc(19.5 * mebibyte)),
    free: () => existsSync(ballast) && rmSync(ballast),
  };
}
