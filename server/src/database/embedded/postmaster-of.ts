import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** `data` is the cluster's data directory. */
export const pidFileOf = (data: string) => join(data, "postmaster.pid");

/** The PostgreSQL that runs on this folder, by its pid file: line 1 is the pid, line 5 the socket folder. */
export function postmasterOf(data: string): { readonly pid: number; readonly sockets: string } | undefined {
  const [first = "", , , , sockets = ""] = readPidFile(data).split("\n");
  const pid = Number(first);
  return Number.isInteger(pid) && pid > 0 && runsOn(pid, data) ? { pid, sockets } : undefined;
}

/** Empty if it does not exist. Read without checking first, because a stopping server deletes it at any time. */
function readPidFile(data: string): string {
  try {
    return readFileSync(pidFileOf(data), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Whether the pid is a PostgreSQL on this folder (by its working directory): pids are reused, folders copied. */
function runsOn(pid: number, data: string): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}
