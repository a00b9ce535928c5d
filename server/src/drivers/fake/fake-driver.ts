import { on } from "node:events";
import { rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { checkSegment, checkSpec } from "../check-segment.ts";
import { type Capabilities, type Driver, DriverError, type Observed, type Spec, type Stats } from "../driver.ts";
import { notEmpty } from "../homes/home-store.ts";
import { type ArchiveEntry, packArchive } from "../homes/pack-archive.ts";
import { specHash } from "../spec-hash.ts";
import { startStep } from "../start-step.ts";
import { type FakeFaults, openFakeFaults } from "./fake-faults.ts";
import {
  emitChange,
  exitRun,
  type FakeExit,
  type FakeMachine,
  type FakeRun,
  fakeMachine,
  observedOf,
  removeRun,
  startRun,
} from "./fake-machine.ts";
import type { FakeFiles } from "./fake-server.ts";
import { readFiles } from "./read-files.ts";

/** For tests only. */
export interface FakeControls extends FakeFaults {
  readonly machine: FakeMachine;
  /** The run becomes `stopped`, as after a crash or when memory ran out. */
  crash(id: string, exit?: FakeExit): Promise<void>;
  /** The run stops listening and goes on running. */
  silence(id: string): Promise<void>;
  /** Ends every run on the machine and removes its folder. */
  close(): Promise<void>;
}

/**
 * Environments in memory that listen on a Unix socket (fake-server.ts).
 *
 * Options (G89): `startMs` from start to running, `answerMs` from running to the first response 200, `silent` the probability
 * (0 to 1) that a run never responds, unless it is without settings (G106), `stopMs` the duration of a stop, `prepareMs` of a
 * prepare, `fail` the probability that a start throws `unavailable`, `gpus` the number of GPUs (0: CPU only), `cores` that
 * each run uses (0.1), `pause=0` for a machine that cannot pause, and `warm=1` beside it for warm runs that are running.
 * `engine`, the port of a fake engine (serve-fake-engine.ts),
 * replaces this machine by one that several processes use.
 */
export function fakeDriver(
  options: Readonly<Record<string, number>> = {},
  { machine = fakeMachine(), install = "fake" }: { readonly machine?: FakeMachine; readonly install?: string } = {},
): Driver & FakeControls {
  const find = (id: string) => {
    const run = machine.runs.get(id);
    return run?.install === install ? run : undefined;
  };
  const deps = { options, machine, install, find };
  const driver = { kind: "fake" as const, ...readOperations(deps), ...runOperations(deps), ...streamOperations(deps) };
  return { ...openFakeFaults(driver), ...controls(deps) };
}

interface FakeDeps {
  readonly options: Readonly<Record<string, number>>;
  readonly machine: FakeMachine;
  readonly install: string;
  readonly find: (id: string) => FakeRun | undefined;
}

function controls({ machine, find }: FakeDeps): Pick<FakeControls, "machine" | "crash" | "silence" | "close"> {
  return {
    machine,
    async crash(id, exit = { code: 1, outOfMemory: false }) {
      const run = find(id);
      if (run) await exitRun(machine, run, exit, `exited with ${exit.code}`);
    },
    async silence(id) {
      const run = find(id);
      const server = run?.server;
      if (!run || !server) return;
      Object.assign(run, { server: undefined });
      await server.close();
      emitChange(machine, run);
    },
    async close() {
      for (const run of machine.runs.values()) await removeRun(machine, run);
      await rm(machine.directory, { recursive: true, force: true });
    },
  };
}

type RunOperation = "prepare" | "start" | "pause" | "stop" | "remove" | "deleteHome" | "restore";

function runOperations({ options, machine, install, find }: FakeDeps): Pick<Driver, RunOperation> {
  const stop = (id: string) =>
    machine.serially(id, async () => {
      const run = find(id);
      if (!run) return;
      observeOnNode(machine, run);
      if (options["stopMs"]) await wait(options["stopMs"]);
      await removeRun(machine, run);
    });
  return {
    async prepare(image, progress) {
      checkSegment("image", image);
      for (let percent = 0; percent < 100 && options["prepareMs"]; percent += 10) {
        progress?.(percent);
        await wait(options["prepareMs"] / 10);
      }
      progress?.(100);
    },
    async start(spec, signal) {
      checkSpec(spec);
      if (Math.random() < (options["fail"] ?? 0)) throw new DriverError("unavailable", "an injected failure");
      await machine.serially(spec.id, () => startFakeRun({ options, machine, install, find }, spec, signal));
    },
    async pause(id) {
      if (options["pause"] === 0) throw new DriverError("unsupported", "this machine cannot pause");
      await machine.serially(id, async () => {
        const run = find(id);
        if (run && !run.exit) setPaused(machine, run, true);
      });
    },
    stop,
    remove: stop,
    async deleteHome(home) {
      checkSegment("home", home);
      const isUsed = [...machine.runs.values()].some((run) => run.spec.home === home && !run.exit);
      if (isUsed) throw new DriverError("refused", `a run uses ${home}`);
      machine.homes.delete(home);
      machine.missingHomes.add(home);
    },
    async restore({ home }, archive, signal) {
      if (machine.homes.has(checkSegment("home", home))) throw notEmpty(home);
      machine.missingHomes.delete(home);
      const files: FakeFiles = new Map();
      machine.homes.set(home, files);
      await readFiles(archive, files, signal);
    },
  };
}

type ReadOperation =
  | "machineId"
  | "capabilities"
  | "observe"
  | "list"
  | "homeMb"
  | "countHome"
  | "stats"
  | "processes"
  | "gpuFault"
  | "gpuLeftovers";

function readOperations({ options, machine, install, find }: FakeDeps): Pick<Driver, ReadOperation> {
  const require = (id: string) => {
    const run = find(id);
    if (!run) throw new DriverError("refused", `there is no run ${id}`);
    return run;
  };
  return {
    machineId: async () => `a fake machine, ${machine.id}`,
    capabilities: async () => capabilitiesOf(options, machine),
    observe: async (id) => observeOnNode(machine, find(id)),
    async list() {
      const ours = [...machine.runs].filter(([, run]) => run.install === install);
      return ours.map(([id, run]) => ({ id, observed: observedOf(run) }));
    },
    homeMb: async (home) => homeMbOf(machine, checkSegment("home", home)),
    async countHome(home) {
      const files = machine.missingHomes.has(home) ? undefined : machine.homes.get(home);
      return files && { entries: files.size, bytes: homeMbOf(machine, home) * 1e6 };
    },
    stats: async (id) => statsOf(machine, require(id), options),
    async processes(id) {
      const commands = machine.commands.get(require(id).spec.id) ?? ["python3 /usr/bin/jupyter-lab"];
      return commands.map((command, index) => ({ pid: index + 1, command, program: command.split(" ")[0] }));
    },
    gpuFault: async (id) => machine.gpuFaults.get(require(id).spec.id),
    gpuLeftovers: async (ids) => new Map([...machine.gpuLeftovers].filter(([id]) => ids.includes(id))),
  };
}

/** With the waits and the faults of a node, as a cluster reports them. */
function observeOnNode(machine: FakeMachine, run: FakeRun | undefined): Observed {
  const observed = observedOf(run);
  const waiting = run && machine.waits.get(run.spec.id);
  if (waiting && observed.state !== "absent") {
    const { generation, specHash: hash, gpus, createdAt } = observed;
    return { generation, specHash: hash, gpus, createdAt, state: "starting", waiting };
  }
  const lost = run && machine.lostRuns.get(run.spec.id);
  if (!lost || observed.state === "absent") return observed;
  const { since, isOff } = lost;
  if (!isOff) throw new DriverError("lost", "the node gives no sign", { since });
  return { ...observed, state: "stopped", exit: { code: 137, outOfMemory: false, lostSince: since } };
}

async function startFakeRun(
  { options, machine, install, find }: FakeDeps,
  spec: Spec,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const hash = specHash(spec);
  const existing = find(spec.id);
  const step = startStep(observeOnNode(machine, existing), { generation: spec.generation, specHash: hash });
  if (step === "resume" && existing) setPaused(machine, existing, false);
  if (step !== "create") return;
  if (spec.homeIsKept && machine.missingHomes.has(spec.home))
    throw new DriverError("no_home", `${spec.home} is missing`);
  machine.missingHomes.delete(spec.home);
  if (existing) await removeRun(machine, existing);
  machine.lostRuns.delete(spec.id);
  const ended = new AbortController();
  const run: FakeRun = { install, spec, hash, createdAt: new Date(), paused: false, lines: ["created"], ended };
  const answerMs = isSilent(machine, spec, options["silent"]) ? Number.POSITIVE_INFINITY : options["answerMs"];
  await startRun(machine, run, { startMs: options["startMs"], answerMs });
}

function isSilent(machine: FakeMachine, { home, withoutSettings }: Spec, share = 0): boolean {
  return !withoutSettings && (machine.silentHomes.has(home) || Math.random() < share);
}

function setPaused(machine: FakeMachine, run: FakeRun, paused: boolean): void {
  if (run.paused === paused) return;
  run.paused = paused;
  if (paused) run.server?.freeze();
  else run.server?.resume();
  emitChange(machine, run);
}

function capabilitiesOf(options: Readonly<Record<string, number>>, machine: FakeMachine): Capabilities {
  const gpus = Array.from({ length: options["gpus"] ?? 0 }, (_, at) => ({
    id: `${machine.directory.slice(-6)}-gpu-${at}`,
    model: "RTX 4070",
    memoryMb: 12_282,
  }));
  const gpu = gpus.length > 0 ? "cdi" : "none";
  const pause = options["pause"] !== 0;
  const warm = pause ? "paused" : options["warm"] ? "running" : "none";
  return { pause, warm, diskQuota: false, gpu, gpus, isolation: "none" };
}

function statsOf(machine: FakeMachine, run: FakeRun, options: Readonly<Record<string, number>>): Stats {
  const homeMb = homeMbOf(machine, run.spec.home);
  const cpuSeconds = ((Date.now() - run.createdAt.getTime()) / 1000) * (options["cores"] ?? 0.1);
  // Without GPUs, the leased ids are slots of the processor.
  const leased = options["gpus"] ? run.spec.gpus : [];
  const gpus = leased.map((id) => ({ id, usePercent: 40, memoryMb: 900, watts: 70 }));
  return { cpuSeconds, memoryMb: 90, pids: 4, receivedBytes: 0, sentBytes: 0, homeMb, gpus };
}

function homeMbOf(machine: FakeMachine, home: string): number {
  const files = [...(machine.homes.get(home)?.values() ?? [])];
  return files.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6;
}

async function* entriesOf(machine: FakeMachine, home: string): AsyncGenerator<ArchiveEntry> {
  for (const [path, text] of machine.homes.get(home) ?? []) {
    const bytes = Buffer.from(text);
    const read = async function* () {
      yield bytes;
    };
    yield { type: "File", path, mode: 0o644, modifiedAt: new Date(), size: bytes.length, bytes: read };
  }
}

function streamOperations({ machine, install, find }: FakeDeps): Pick<Driver, "logs" | "watch" | "archive"> {
  return {
    archive: (home, signal) => packArchive(entriesOf(machine, checkSegment("home", home)), signal),
    async *logs(id, { tail, follow, signal }) {
      let at = Math.max(0, (find(id)?.lines.length ?? 0) - tail);
      while (!signal.aborted) {
        const run = find(id);
        yield* run?.lines.slice(at) ?? [];
        at = run?.lines.length ?? 0;
        if (!follow || !run) return;
        await wait(20, undefined, { signal }).catch(() => {});
      }
    },
    async *watch(signal) {
      try {
        for await (const [owner, id] of on(machine.changed, "changed", { signal })) if (owner === install) yield id;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}
