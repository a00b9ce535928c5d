import { execFile } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** One living process. Zombies are left out: they do not run, and stay for ever under a container's idle init. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly stopped: boolean;
  /** Identifies a process together with the pid, also after pids are reused and after a reboot. */
  readonly startedAt: string;
  readonly cpuSeconds: number;
  readonly memoryMb: number;
  /** It has a terminal and did not begin its session, as the shell of a terminal did; absent in the table of `ps`. */
  readonly inTerminal?: boolean;
}

export type ProcessTable = ReadonlyMap<number, ProcessRow>;

const linux = process.platform === "linux";
/** Kernel ticks per second and bytes per page: 100 and 4096 on every Linux that Node runs on by default. */
const ticksPerSecond = 100;
const pageMb = 4096 / 1e6;

export async function processTable(): Promise<ProcessTable> {
  if (!linux) return psTable();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(pids.map((pid) => processRow(Number(pid))));
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.pid, row]));
}

export async function processRow(pid: number): Promise<ProcessRow | undefined> {
  if (!linux) return (await psTable(pid)).get(pid);
  const boot = await bootId();
  const stat = readStat(pid);
  const end = stat.lastIndexOf(")");
  // The name is in brackets and may contain brackets and blanks: the fields are counted from its end.
  const fields = stat.slice(end + 2).split(" ");
  const field = (number: number) => Number(fields[number - 3]);
  const state = fields[0] ?? "";
  if (end < 0 || "ZX".includes(state)) return undefined;
  return {
    pid,
    parent: field(4),
    name: stat.slice(stat.indexOf("(") + 1, end),
    stopped: state === "T",
    startedAt: `${boot} ${field(22)}`,
    // Including children that were waited for.
    cpuSeconds: (field(14) + field(15) + field(16) + field(17)) / ticksPerSecond,
    memoryMb: field(24) * pageMb,
    inTerminal: field(7) !== 0 && field(6) !== pid,
  };
}

const statBuffer = Buffer.alloc(4096);

/** Synchronous, because the kernel answers at once: 300 processes take 5 ms of CPU, and asynchronously 18. */
function readStat(pid: number): string {
  try {
    const file = openSync(`/proc/${pid}/stat`, "r");
    try {
      return statBuffer.toString("utf8", 0, readSync(file, statBuffer));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

let boot: Promise<string> | undefined;
function bootId(): Promise<string> {
  boot ??= readFile("/proc/sys/kernel/random/boot_id", "utf8").then((text) => text.trim());
  return boot;
}

/** The table from `ps`, for macOS. Exported for its test, which compares it with /proc. */
export async function psTable(pid?: number): Promise<ProcessTable> {
  const which = pid === undefined ? ["-ax"] : ["-p", String(pid)];
  const format = "pid=,ppid=,state=,lstart=,time=,rss=,comm=";
  // ps exits with 1 when there is no such process.
  const { stdout } = await run("ps", [...which, "-o", format], { maxBuffer: 1e8 }).catch((error) => {
    if (error.code === 1) return { stdout: "" };
    throw error;
  });
  const rows = stdout.split("\n").flatMap((line): ProcessRow[] => {
    const match = line
      .trim()
      .match(/^(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(\S+)\s+(\d+)\s+(\S.*)$/);
    if (!match) return [];
    const [, id, parent, state = "", startedAt = "", time = "", rss, command = ""] = match;
    if (state.startsWith("Z")) return [];
    const name = command.slice(command.lastIndexOf("/") + 1);
    const memoryMb = (Number(rss) * 1024) / 1e6;
    const cpuSeconds = secondsOf(time);
    return [
      {
        pid: Number(id),
        parent: Number(parent),
        name,
        stopped: state.startsWith("T"),
        startedAt,
        cpuSeconds,
        memoryMb,
      },
    ];
  });
  return new Map(rows.map((row) => [row.pid, row]));
}

function secondsOf(time: string): number {
  const [days, clock] = time.includes("-") ? time.split("-") : ["0", time];
  return (clock ?? "").split(":").reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
}

/** The roots and all their descendants, parents before children. */
export function treeOf(table: ProcessTable, roots: readonly number[]): ProcessRow[] {
  const children = Map.groupBy(table.values(), (row) => row.parent);
  const tree = new Map(roots.flatMap((pid) => table.get(pid) ?? []).map((row) => [row.pid, row]));
  // The iteration of a Map includes entries that are added during it.
  for (const row of tree.values()) for (const child of children.get(row.pid) ?? []) tree.set(child.pid, child);
  return [...tree.values()];
}

/**
 * Processes that were started with this text in their environment variables, in the order of their start. Finds processes
 * outside the tree: daemons where there is no process namespace, and a run whose first process was killed. Linux only.
 */
export async function markedProcesses(table: ProcessTable, mark: string): Promise<ProcessRow[]> {
  if (!linux) return [];
  const marked = await Promise.all(
    [...table.values()].map(async (row) => {
      const environment = await readFile(`/proc/${row.pid}/environ`, "latin1").catch(() => "");
      return environment.includes(mark) ? row : undefined;
    }),
  );
  const ticks = (row: ProcessRow) => Number(row.startedAt.split(" ")[1]);
  return marked.filter((row) => row !== undefined).sort((a, b) => ticks(a) - ticks(b) || a.pid - b.pid);
}

export function send(rows: readonly ProcessRow[], signal: "SIGSTOP" | "SIGCONT" | "SIGTERM" | "SIGKILL"): void {
  for (const { pid } of rows) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It has ended since it was read.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
