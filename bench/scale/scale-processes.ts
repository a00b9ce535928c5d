import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Database } from "../../server/src/database/database.ts";
import type { Replica, ReplicaOptions } from "../../testing/start-replica.ts";

/** What the parts of the bench share. */
export interface Bench extends ReplicaOptions {
  readonly database: Database;
  /** Environments. */
  readonly count: number;
  readonly engine: ChildProcess;
  /** Notifications of changed rows; the listener gets the id of each. */
  readonly heard: { count: number; listener: (id: string) => void };
  readonly workers: Replica[];
  readonly gateways: Replica[];
}

/** User and system time of a process and of all that it started and that has ended or runs. A tick is 10 ms. */
export function treeCpuMs(pid: number): number {
  const fields = (of: number | string) => {
    try {
      return readFileSync(`/proc/${of}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")
        .map(Number);
    } catch {
      return [];
    }
  };
  const ticks = (of: readonly number[]) => (of[11] ?? 0) + (of[12] ?? 0);
  const own = fields(pid);
  const children = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(fields)
    .filter(([, parent]) => parent === pid);
  const ended = (own[13] ?? 0) + (own[14] ?? 0);
  return (ticks(own) + ended + children.reduce((sum, each) => sum + ticks(each), 0)) * 10;
}

export function parentOf(pid: number): number {
  return Number(
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")[1],
  );
}

/** "1 worker", "2 workers". */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
