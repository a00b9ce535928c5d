import { statfs } from "node:fs/promises";
import { AppError } from "../app-error.ts";
import { type Loop, startInterval } from "../async/start-interval.ts";
import type { Logger } from "../logging/create-logger.ts";

export interface DiskSpace {
  readonly freeBytes: number;
  /** 0 to 100, of the space that this account may use, as df counts. */
  readonly freePercent: number;
}

/** `low` is logged; at `full` no new environment is sold, because environments and the embedded database share the disk (P11). */
export type Disk = "ok" | "low" | "full";

const lowPercent = 10;
const fullPercent = 5;
const intervalMs = 60_000;

/** Free space on the file system of a folder. */
export async function diskSpaceOf(folder: string): Promise<DiskSpace> {
  const { bavail, bfree, blocks, bsize } = await statfs(folder);
  const usable = blocks - bfree + bavail;
  return { freeBytes: bavail * bsize, freePercent: usable === 0 ? 0 : (bavail / usable) * 100 };
}

export async function diskOf(folder: string): Promise<Disk> {
  const { freePercent } = await diskSpaceOf(folder);
  return freePercent < fullPercent ? "full" : freePercent < lowPercent ? "low" : "ok";
}

/** Called before a sale: throws `unavailable` if the disk is full (P11). */
export async function checkDiskSpace(folder: string): Promise<void> {
  if ((await diskOf(folder)) !== "full") return;
  throw new AppError(
    "unavailable",
    "The disk of this service is nearly full, so no new environment is sold at the moment. Nothing was charged. Try again later.",
    { retryAfterSeconds: 300 },
  );
}

/** Checks the disk of a folder every minute; logs when it gets low or full, and when it has recovered. */
export function startDiskWatch(folder: string, log: Logger): Loop {
  let before: Disk = "ok";
  return startInterval({
    name: "disk",
    work: async () => {
      const disk = await diskOf(folder);
      const text = disk === before ? undefined : textOf(disk, folder, await diskSpaceOf(folder));
      if (text !== undefined) log[disk === "ok" ? "info" : "warn"]({ event: `disk.${disk}` }, text);
      before = disk;
      return intervalMs;
    },
    intervalMs,
    log,
  });
}

function textOf(disk: Disk, folder: string, { freeBytes, freePercent }: DiskSpace): string {
  const left = `${Math.floor(freePercent)} % (${Math.floor(freeBytes / 1024 ** 2)} MiB) of the disk of ${folder} are free`;
  if (disk === "ok") return `${left} again.`;
  return disk === "low"
    ? `${left}; below ${fullPercent} % no new environment is sold.`
    : `${left}: no new environment is sold until there is room again.`;
}
