import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** `data` is the cluster's folder. */
export const pidFileOf = (data: string) => join(data, "postmaster.pid");

/** The PostgreSQL that runs on this folder, by the file that it keeps there: its process first, its socket's folder fifth. */
export function postmasterOf(data: string): { readonly pid: number; readonly sockets: string } | undefined {
  const [first = "", , , , sockets = ""] = readPidFile(data).split("\n");
  const pid = Number(first);
  return Number.isInteger(pid) && pid > 0 && runsOn(pid, data) ? { pid, sockets } : undefined;
}

/** Empty where there is none. A server that ends takes it away at any moment, so it is read without asking first. */
function readPidFile(data: string): string {
  try {
    return readFileSync(pidFileOf(data), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** PostgreSQL works in its data folder, under whatever name that has meanwhile. Another installation's is not ours to end. */
function runsOn(pid: number, data: string): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}
