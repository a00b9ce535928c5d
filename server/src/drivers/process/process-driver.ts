import { randomUUID } from "node:crypto";
import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { keyedMutex } from "../../async/keyed-mutex.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { checkSegment, checkSpec } from "../check-segment.ts";
import { type Capabilities, type Driver, DriverError, type Observed, type Spec, type Stats } from "../driver.ts";
import { giveHome, type Owner } from "../homes/give-home.ts";
import type { HomeStore } from "../homes/home-store.ts";
import { openLocalHomes } from "../homes/local-homes.ts";
import { restoreHome } from "../homes/restore-home.ts";
import { specHash } from "../spec-hash.ts";
import { startStep } from "../start-step.ts";
import { forkServer } from "./fork-server.ts";
import { listProcesses } from "./list-processes.ts";
import { prepareRuntime, readRuntime } from "./prepare-runtime.ts";
import { processMachineId } from "./process-machine-id.ts";
import { endRun, freezeRun, longestGraceMs, observeRun, processesOf, spawnRun, thawRun } from "./process-run.ts";
import { readLog } from "./read-log.ts";
import { type RunState, type RunStates, runStates, usesOwnHome } from "./run-states.ts";
import { ownerOfRuns } from "./sandbox/as-user.ts";
import { findBubblewrap } from "./sandbox/bubblewrap.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { socketFolder } from "./socket-folder.ts";
import { watchRuns } from "./watch-runs.ts";

export interface ProcessOptions {
  /** Homes, runtimes and the state of runs; the server's data folder, on a local file system. */
  readonly directory: string;
  /** Installation id: runs of another one are never seen. */
  readonly install: string;
  /** "off" closes the internet and this machine's 127.0.0.1 to the runs; needs bubblewrap. */
  readonly network: "shared" | "off";
  /** The folder of prepared Python environments, if not `<directory>/runtimes`. */
  readonly runtimes?: string;
  /** What a type is made of; by default the type itself. */
  readonly recipeOf?: (type: string) => string;
  /** For errors of work in the background, such as the deletion of a home's files. */
  readonly log: Logger;
}

/**
 * JupyterLab as processes of this machine, the default. Runs have process ids of their own and do not see the server's files
 * where bubblewrap works. They never have a limit of memory, CPU or disk.
 */
export async function processDriver(options: ProcessOptions): Promise<Driver> {
  await mkdir(options.directory, { recursive: true });
  const directory = await realpath(options.directory);
  const runs = join(directory, "environments");
  const found = await findBubblewrap(join(directory, "sandbox"));
  const deps: ProcessDeps = {
    homes: await openLocalHomes(join(directory, "homes"), options.log),
    runtimes: options.runtimes ?? join(directory, "runtimes"),
    recipeOf: options.recipeOf ?? ((type) => type),
    sockets: await socketFolder(directory),
    allStates: () => statesOfAllInstallations(runs),
    states: runStates(join(runs, checkSegment("environment", options.install))),
    sandbox: found?.sandbox,
    owner: ownerOfRuns(found?.user, options.log),
    network: options.network === "shared",
    serially: keyedMutex(),
    log: options.log,
  };
  if (!deps.network && !deps.sandbox) {
    throw new DriverError("unsupported", "PROCESS_NETWORK=off needs bubblewrap with user namespaces on this machine");
  }
  return {
    kind: "process",
    machineId: () => processMachineId(directory),
    ...imageOperations(deps),
    ...readOperations(deps),
    ...runOperations(deps),
    ...streamOperations(deps),
  };
}

interface ProcessDeps {
  readonly homes: Omit<HomeStore, "restore">;
  readonly runtimes: string;
  readonly recipeOf: (type: string) => string;
  readonly sockets: string;
  readonly allStates: () => Promise<RunState[]>;
  readonly states: RunStates;
  readonly sandbox: Sandbox | undefined;
  readonly owner: Owner;
  readonly network: boolean;
  readonly serially: ReturnType<typeof keyedMutex>;
  readonly log: Logger;
}

/** A home is not deleted under a run of any installation that ever used this folder. */
async function statesOfAllInstallations(runs: string): Promise<RunState[]> {
  const installs = await readdir(runs).catch(() => []);
  return (await Promise.all(installs.map((install) => runStates(join(runs, install)).list()))).flat();
}

function imageOperations({
  runtimes,
  recipeOf,
  sandbox,
  serially,
  log,
}: ProcessDeps): Pick<Driver, "capabilities" | "prepare"> {
  const preparing = new Map<string, Set<(percent: number) => void>>();
  const capabilities: Capabilities = {
    pause: true,
    warm: "none",
    diskQuota: false,
    gpu: "none",
    gpus: [],
    isolation: sandbox ? "bubblewrap" : "none",
  };
  return {
    async capabilities() {
      return capabilities;
    },
    async prepare(image, progress = () => {}, options = {}) {
      checkSegment("image", image);
      const listeners = preparing.get(image) ?? new Set();
      preparing.set(image, listeners.add(progress));
      const notify = (percent: number) => {
        for (const listener of listeners) listener(Math.round(percent));
      };
      try {
        // Under a mutex: the second call finds it prepared, and gets the progress of the first meanwhile.
        await serially(`prepare ${recipeOf(image)}`, () => prepareRuntime(runtimes, recipeOf(image), notify, options));
        const runtime = sandbox && (await readRuntime(runtimes, recipeOf(image)));
        if (runtime) void forkServer(runtime, log);
      } finally {
        listeners.delete(progress);
      }
    },
  };
}

function readOperations({
  states,
  homes,
}: ProcessDeps): Pick<Driver, "observe" | "list" | "stats" | "processes" | "homeMb" | "gpuFault" | "gpuLeftovers"> {
  return {
    async observe(id) {
      const state = await states.read(checkSegment("environment", id));
      if (!state) return { state: "absent" };
      if (!usesOwnHome(homes.path, state))
        throw new DriverError(
          "no_home",
          `${id} runs on the files in ${state.homePath}, not in this DATA_DIR: start the server with the DATA_DIR of before, or end its processes`,
        );
      return observeRun(states, state);
    },
    async list() {
      const own = (await states.list()).filter((state) => usesOwnHome(homes.path, state));
      return Promise.all(own.map(async (state) => ({ id: state.id, observed: await observeRun(states, state) })));
    },
    async stats(id) {
      const state = await requireRun(states, id);
      return statsOf(state, await homes.recentMb(state.home));
    },
    processes: async (id) => listProcesses(await requireRun(states, id)),
    homeMb: homes.sizeMb,
    async gpuFault() {
      return undefined;
    },
    async gpuLeftovers() {
      return new Map();
    },
  };
}

async function requireRun(states: RunStates, id: string): Promise<RunState> {
  const state = await states.read(checkSegment("environment", id));
  if (!state) throw new DriverError("refused", `there is no run ${id}`);
  return state;
}

/** Without figures of traffic: the network is the machine's own or none. */
async function statsOf(state: RunState, homeMb: number): Promise<Stats> {
  const rows = await processesOf(state);
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const cpuSeconds = sum((row) => row.cpuSeconds);
  const memoryMb = sum((row) => row.memoryMb);
  return { cpuSeconds, memoryMb, pids: rows.length, receivedBytes: null, sentBytes: null, homeMb, gpus: [] };
}

function runOperations(deps: ProcessDeps): Pick<Driver, "start" | "pause" | "stop" | "remove" | "deleteHome"> {
  const { states, serially } = deps;
  const stop = (id: string, graceMs: number) =>
    serially(id, async () => {
      const state = await states.read(checkSegment("environment", id));
      if (!state) return;
      await endRun(state, Math.min(graceMs, longestGraceMs));
      await states.remove(id);
    });
  return {
    async start(spec, signal) {
      checkSpec(spec);
      await serially(spec.id, () => startRun(deps, spec, signal));
    },
    pause: (id) =>
      serially(id, async () => {
        const state = await states.read(checkSegment("environment", id));
        if (state) await freezeRun(state);
      }),
    stop,
    remove: (id) => stop(id, longestGraceMs),
    deleteHome: (home) => serially(`home ${home}`, () => deleteHome(deps, home)),
  };
}

async function startRun(deps: ProcessDeps, spec: Spec, signal: AbortSignal | undefined): Promise<void> {
  const { states } = deps;
  signal?.throwIfAborted();
  const hash = specHash(spec);
  const old = await states.read(spec.id);
  const existing: Observed = old ? await observeRun(states, old) : { state: "absent" };
  const step = startStep(existing, { generation: spec.generation, specHash: hash });
  if (step === "resume" && old) await thawRun(old);
  if (step !== "create") return;
  if (old) {
    await endRun(old, 1_000);
    await states.remove(spec.id);
  }
  const state = await createRun(deps, spec, hash);
  if (!signal?.aborted) return;
  await endRun(state, 0);
  await states.remove(spec.id);
  throw signal.reason;
}

/** Without a fork server in this time, a run imports JupyterLab itself. */
const forkServerMs = 5_000;

/** Writes the state before the process starts: whenever the server dies, the next one finds the run, or there was none. */
async function createRun(deps: ProcessDeps, spec: Spec, hash: string): Promise<RunState> {
  const { states, sandbox, network, log } = deps;
  const runtime = await readRuntime(deps.runtimes, deps.recipeOf(spec.image));
  if (!runtime) throw new DriverError("no_image", `${spec.image} is not prepared on this machine`);
  const { id, generation, image, gpus } = spec;
  const mark = randomUUID();
  const home = deps.homes.path(spec.home);
  const socketFolder = join(deps.sockets, mark.slice(0, 13));
  const createdAt = new Date().toISOString();
  const run = { id, generation, specHash: hash, image, home: spec.home, homePath: home, gpus, createdAt, mark };
  const intent: RunState = { ...run, socketFolder, socketOutside: true, ...(sandbox && { sandboxed: true }) };
  await deps.serially(`home ${spec.home}`, async () => {
    await deps.homes.make(spec);
    await giveHome(home, deps.owner);
    await states.write(intent);
  });
  try {
    const folder = states.folder(id);
    const { token, withoutSettings = false } = spec;
    // Only namespaces keep forks of one process apart.
    const server = sandbox && (await withTimeout(forkServer(runtime, log), forkServerMs, () => undefined));
    const seen = { runtime, sandbox, forkServer: server, network };
    const process = await spawnRun(intent, { ...seen, home, folder, token, withoutSettings });
    const state = { ...intent, process };
    await states.write(state);
    return state;
  } catch (error) {
    await endRun(intent, 0);
    await states.remove(id);
    throw error;
  }
}

async function deleteHome({ homes, allStates }: ProcessDeps, home: string): Promise<void> {
  checkSegment("home", home);
  for (const state of await allStates()) {
    if (state.home !== home) continue;
    const isRunning = !state.process || (await processesOf(state)).length > 0;
    if (isRunning) throw new DriverError("refused", `a run uses ${home}`);
  }
  await homes.remove(home);
}

function streamOperations({
  states,
  homes,
  owner,
}: ProcessDeps): Pick<Driver, "logs" | "watch" | "archive" | "countHome" | "restore"> {
  return {
    archive: homes.archive,
    countHome: homes.countHome,
    restore: restoreHome(homes, owner),
    async *logs(id, { tail, follow, signal }) {
      checkSegment("environment", id);
      const mayGrow = async () => follow && (await states.read(id)) !== undefined;
      yield* readLog(join(states.folder(id), "log"), { tail, signal, follow: mayGrow });
    },
    watch: (signal) => watchRuns(states, signal),
  };
}
