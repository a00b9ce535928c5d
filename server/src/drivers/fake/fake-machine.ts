import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { keyedMutex } from "../../async/keyed-mutex.ts";
import type { Eviction, Observed, Spec, Waiting } from "../driver.ts";
import { type FakeFiles, type FakeServer, startFakeServer } from "./fake-server.ts";

export interface FakeRun {
  /** The installation of the run: a driver sees only its own. */
  readonly install: string;
  readonly spec: Spec;
  readonly hash: string;
  readonly createdAt: Date;
  startedAt?: Date;
  server?: FakeServer;
  paused: boolean;
  exit?: FakeExit;
  readonly lines: string[];
  readonly ended: AbortController;
}

export interface FakeExit {
  readonly code: number;
  readonly outOfMemory: boolean;
  readonly evicted?: Eviction;
}

/** State that outlives a driver object: a new one on this machine finds the runs, as after a restart of the server. */
export interface FakeMachine {
  readonly id: string;
  readonly directory: string;
  readonly runs: Map<string, FakeRun>;
  readonly homes: Map<string, FakeFiles>;
  /** Reasons for `gpuFault` by the run's id, and for `gpuLeftovers` by the GPU's id. */
  readonly gpuFaults: Map<string, string>;
  readonly gpuLeftovers: Map<string, string>;
  /** Command lines inside runs, by the run's id; JupyterLab alone where there are none. */
  readonly commands: Map<string, readonly string[]>;
  /** Homes whose files keep JupyterLab silent, unless it starts without settings; and homes that are missing. */
  readonly silentHomes: Set<string>;
  readonly missingHomes: Set<string>;
  /** Runs, by id, whose node of a cluster gives no sign since then; `isOff`: it is off, and another can start them. */
  readonly lostRuns: Map<string, { readonly since: Date; readonly isOff?: true }>;
  /** What runs wait for, by id, although they were started. */
  readonly waits: Map<string, Waiting>;
  /** Emits "changed" with install and id. */
  readonly changed: EventEmitter;
  readonly serially: ReturnType<typeof keyedMutex>;
}

/** @param id by default its own; a server names its data folder, which it has again after a restart */
export function fakeMachine(id?: string): FakeMachine {
  const directory = mkdtempSync(join(tmpdir(), "berth-fake-"));
  const changed = new EventEmitter().setMaxListeners(0);
  const gpus = {
    gpuFaults: new Map(),
    gpuLeftovers: new Map(),
    commands: new Map(),
    lostRuns: new Map(),
    waits: new Map(),
  };
  const files = { homes: new Map(), silentHomes: new Set<string>(), missingHomes: new Set<string>() };
  return { id: id ?? directory, directory, runs: new Map(), ...files, ...gpus, changed, serially: keyedMutex() };
}

export function emitChange(machine: FakeMachine, run: FakeRun): void {
  machine.changed.emit("changed", run.install, run.spec.id);
}

/** Without `startMs` the run listens when this returns; otherwise it starts to listen later. */
export async function startRun(
  machine: FakeMachine,
  run: FakeRun,
  { startMs = 0, answerMs = 0 }: { readonly startMs?: number | undefined; readonly answerMs?: number | undefined },
): Promise<void> {
  const files: FakeFiles = machine.homes.get(run.spec.home) ?? new Map();
  machine.homes.set(run.spec.home, files);
  machine.runs.set(run.spec.id, run);
  emitChange(machine, run);
  if (startMs === 0) return listen(machine, run, files, answerMs);
  wait(startMs, undefined, { signal: run.ended.signal })
    .then(() => listen(machine, run, files, answerMs))
    .catch((error) => {
      if (!run.ended.signal.aborted) exitRun(machine, run, { code: 1, outOfMemory: false }, String(error));
    });
}

async function listen(machine: FakeMachine, run: FakeRun, files: FakeFiles, answerMs: number): Promise<void> {
  const socketPath = join(machine.directory, `${randomUUID().slice(0, 13)}.sock`);
  const server = await startFakeServer({ socketPath, token: run.spec.token, files, answersAt: Date.now() + answerMs });
  if (run.ended.signal.aborted) return server.close();
  if (run.paused) server.freeze();
  Object.assign(run, { server, startedAt: new Date() });
  run.lines.push("listening");
  emitChange(machine, run);
}

/** The run ends and stays observable as `stopped`. */
export async function exitRun(machine: FakeMachine, run: FakeRun, exit: NonNullable<FakeRun["exit"]>, line: string) {
  run.ended.abort();
  run.exit = exit;
  run.lines.push(line);
  await run.server?.close();
  emitChange(machine, run);
}

export async function removeRun(machine: FakeMachine, run: FakeRun): Promise<void> {
  run.ended.abort();
  await run.server?.close();
  machine.runs.delete(run.spec.id);
  emitChange(machine, run);
}

export function observedOf(run: FakeRun | undefined): Observed {
  if (!run) return { state: "absent" };
  const { spec, createdAt, startedAt } = run;
  const generation = spec.generation;
  const base = { generation, specHash: run.hash, gpus: spec.gpus, createdAt, ...(startedAt && { startedAt }) };
  if (run.exit) return { ...base, state: "stopped", exit: run.exit };
  if (!run.server) return { ...base, state: "starting" };
  return { ...base, state: run.paused ? "paused" : "running", endpoint: { socketPath: run.server.socketPath } };
}
