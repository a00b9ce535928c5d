import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { appendFile, mkdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DriverError, type Observed } from "../driver.ts";
import { labArguments, labCommand, labEnvironment, pythonOf } from "./lab-command.ts";
import type { Runtime } from "./prepare-runtime.ts";
import { markedProcesses, type ProcessRow, processRow, processTable, send, treeOf } from "./process-table.ts";
import type { RunState, RunStates } from "./run-states.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

/**
 * The first process of a run is a shell that writes the exit code after the others have ended. The run's output comes through
 * a pipe, so that it can neither cut its log nor make it larger than twice 8 MB: `cat` ends at its file limit, and the next
 * one starts a new file. The pipe is in a closed folder; the run, which may be another user's, opens it by /dev/stderr. When
 * memory runs out, the kernel ends runs before the server.
 */
const supervisor = `exit_file=$1 log=$2; shift 2
{ echo 500 > /proc/self/oom_score_adj; } 2>/dev/null
mkfifo -m 622 "$log.pipe"
(umask 077; ulimit -f 16384; trap "" XFSZ; until cat >> "$log"; do mv -f "$log" "$log.old"; done) < "$log.pipe" 2>/dev/null &
"$@" > "$log.pipe" 2>&1
echo $? > "$exit_file.new" && mv "$exit_file.new" "$exit_file"`;

/** Programs of the supervisor and the sandbox; all others belong to the run. */
const ownPrograms = new Set(["sh", "cat", "mv", "bwrap", "lab-waiter"]);

/** On which start_run.py expects the sandbox's first process. */
const infoFd = 6;
const startRun = readFileSync(new URL("start_run.py", import.meta.url), "utf8");

/**
 * Run by the sandbox: waits for the exit code of a JupyterLab that the fork server has started beside it, or becomes one
 * itself (start_run.py). The fork server's process has ended without a word when it was killed.
 */
const waitForLab = `echo >&7; exec 7>&-
read -r answer <&8 || answer=137
exec 8<&-
[ "$answer" = exec ] && exec "$@"
exit "$answer"`;

export interface SpawnOptions {
  readonly runtime: Runtime;
  readonly sandbox: Sandbox | undefined;
  /** Its socket. */
  readonly forkServer: string | undefined;
  readonly network: boolean;
  readonly home: string;
  readonly token: string;
  readonly withoutSettings: boolean;
  /** The run's own folder, for its log and exit file. Not visible inside the sandbox. */
  readonly folder: string;
}

/** Starts the processes of a run, detached, and returns the first one. */
export async function spawnRun(state: RunState, options: SpawnOptions): Promise<{ pid: number; startedAt: string }> {
  const { runtime, sandbox, forkServer, folder } = options;
  await mkdir(state.socketFolder, { recursive: true, mode: 0o700 });
  const inside = sandbox ? { home: "/home/user", tempFolder: "/tmp" } : { home: options.home, tempFolder: folder };
  const args = labArguments({ hasPrivateTemp: sandbox !== undefined });
  const lab = labCommand(runtime, args);
  const view = {
    readOnly: viewOf(runtime),
    writable: [{ path: options.home, at: inside.home }],
    network: options.network,
  };
  const forked = { ...view, infoFd };
  const waiting = ["/bin/sh", "-c", waitForLab, "lab", ...lab];
  const command = !sandbox ? lab : await (forkServer ? sandbox(forked, waiting) : sandbox(view, lab));
  const bind = [pythonOf(runtime), "-I", "-S", "-c", startRun, socketOf(state)];
  const env = labEnvironment(runtime, { ...inside, ...options, home: inside.home, mark: state.mark });
  const log = join(folder, "log");
  // A reader that follows the log may be quicker than the run.
  await appendFile(log, "", { mode: 0o600 });
  const first = [...bind, forkServer ?? "", JSON.stringify(args), ...command];
  // Not the home, which its owner may have made unreadable.
  const child = spawn("/bin/sh", ["-c", supervisor, "run", join(folder, "exit"), log, ...first], {
    cwd: folder,
    env,
    detached: true,
    stdio: "ignore",
  });
  await once(child, "spawn");
  child.unref();
  const row = child.pid === undefined ? undefined : await processRow(child.pid);
  if (!row) throw new DriverError("unavailable", "the run ended before it was observed");
  return { pid: row.pid, startedAt: row.startedAt };
}

function viewOf({ folder, python }: Runtime) {
  const prefix = python.prefix.startsWith("/usr/") || python.prefix === "/usr" ? [] : [{ path: python.prefix }];
  return [...prefix, { path: folder }];
}

const socketName = "lab.sock";

export function socketOf(state: RunState): string {
  return join(state.socketFolder, socketName);
}

/** Reads the process table and the run's exit file; nothing is kept in memory. */
export async function observeRun(states: RunStates, state: RunState): Promise<Observed> {
  const { generation, specHash, gpus } = state;
  const createdAt = new Date(state.createdAt);
  const base = { generation, specHash, gpus, createdAt };
  const first = state.socketOutside ? await firstProcess(state) : undefined;
  if (!first && !state.process && Date.now() - createdAt.getTime() < 3_000) return { ...base, state: "starting" };
  // Without an exit file the shell itself was killed, which counts as 137.
  if (!first) {
    const code = (await states.readExit(state.id)) ?? 137;
    const startedAt = state.process && { startedAt: createdAt };
    return { ...base, ...startedAt, state: "stopped", exit: { code, outOfMemory: false } };
  }
  const started = { ...base, startedAt: createdAt, endpoint: { socketPath: socketOf(state) } };
  if (first.stopped) return { ...started, state: "paused" };
  if (await listens(socketOf(state))) return { ...started, state: "running" };
  return { ...base, startedAt: createdAt, state: "starting" };
}

async function firstProcess(state: RunState): Promise<ProcessRow | undefined> {
  // The server was killed before it recorded the process: the mark still finds it.
  if (!state.process) return (await markedProcesses(await processTable(), state.mark))[0];
  const row = await processRow(state.process.pid);
  return row?.startedAt === state.process.startedAt ? row : undefined;
}

function listens(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  const finish = (isListening: boolean) => {
    socket.destroy();
    resolve(isListening);
  };
  socket.once("connect", () => finish(true));
  // A busy JupyterLab with a full backlog (EAGAIN) does listen.
  socket.once("error", ({ code }: NodeJS.ErrnoException) => finish(code !== "ENOENT" && code !== "ECONNREFUSED"));
  return promise;
}

/**
 * Every living process of the run, parents before children. None can leave a sandbox, whose processes are in the tree while
 * bubblewrap is; elsewhere, and where bubblewrap was killed, a mark in the environment finds those that left.
 */
export async function processesOf(state: RunState): Promise<ProcessRow[]> {
  const table = await processTable();
  const first = state.process && table.get(state.process.pid);
  const root = first && first.startedAt === state.process?.startedAt ? [first.pid] : [];
  const tree = treeOf(table, root);
  if (state.sandboxed && tree.some(({ name }) => name === "bwrap")) return tree;
  const marked = await markedProcesses(table, state.mark);
  return treeOf(table, [...root, ...marked.map((row) => row.pid)]);
}

/**
 * Stops all processes, the first one last and only when no other one runs: its state is the run's state, so after a crash
 * half-way the run counts as running and is paused again. Parents stop before children, because a shell that notices its
 * stopped job takes its terminal back.
 */
export async function freezeRun(state: RunState): Promise<void> {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await wait(5)) {
    const [first, ...rest] = await processesOf(state);
    if (!first || first.stopped) return;
    const running = rest.filter((row) => !row.stopped);
    send(running, "SIGSTOP");
    if (running.length === 0) send([first], "SIGSTOP");
  }
  throw new DriverError("unavailable", "the processes did not all stop within 5 s");
}

/** Children before parents, the first process last: after a crash half-way the run still counts as paused. */
export async function thawRun(state: RunState): Promise<void> {
  send((await processesOf(state)).reverse(), "SIGCONT");
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await wait(5)) {
    if (!(await firstProcess(state))?.stopped) return;
  }
}

/** A run that is asked to end is killed after so long. */
export const longestGraceMs = 5_000;

/** SIGTERM to JupyterLab, which then ends its kernels; SIGKILL to all after the grace. Throws `unavailable` if one stays. */
export async function endRun(state: RunState, graceMs: number): Promise<void> {
  let left = await processesOf(state);
  const lab = left.find((row) => !ownPrograms.has(row.name));
  if (lab && graceMs > 0) {
    send([lab], "SIGTERM");
    send(left.toReversed(), "SIGCONT");
    for (const deadline = Date.now() + graceMs; Date.now() < deadline; await wait(20)) {
      if (!(await firstProcess(state))) break;
    }
  }
  for (const deadline = Date.now() + 3_000; Date.now() < deadline; await wait(10)) {
    left = await living(left);
    if (left.length === 0) left = await processesOf(state);
    if (left.length === 0) break;
    send(left, "SIGKILL");
  }
  if (left.length > 0) throw new DriverError("unavailable", `${left.length} processes of the run did not end`);
  await rm(state.socketFolder, { recursive: true, force: true });
}

/** A dying process loses its variables, and so its mark, before it is gone: it is followed by its pid. */
async function living(rows: readonly ProcessRow[]): Promise<ProcessRow[]> {
  const now = await Promise.all(rows.map(({ pid }) => processRow(pid)));
  return now
    .filter((row) => row !== undefined)
    .filter((row) => rows.some(({ pid, startedAt }) => row.pid === pid && row.startedAt === startedAt));
}
