import { keyedMutex } from "../../async/keyed-mutex.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { checkSpec } from "../check-segment.ts";
import { type Driver, DriverError, type Observed } from "../driver.ts";
import type { Quota } from "../homes/find-quota.ts";
import { gpuDevices, label } from "./containers/container-body.ts";
import { containerLogs } from "./containers/container-logs.ts";
import { freeze } from "./containers/freeze.ts";
import { listProcesses } from "./containers/list-processes.ts";
import { usageOf } from "./containers/observe-container.ts";
import { watchContainers } from "./containers/watch-containers.ts";
import { type EngineAddress, openEngine } from "./engine/engine.ts";
import { openPrepareImage } from "./images/prepare-image.ts";
import { assertOwnHome, usesOwnHome } from "./machine/assert-own-home.ts";
import { openEngineFacts } from "./machine/engine-facts.ts";
import { localMachine, remoteMachine } from "./machine/engine-machine.ts";
import { gpuFault } from "./machine/gpu-fault.ts";
import { findContainer, type LifecycleDeps, longestGraceMs, observedOf, removeRun, startRun } from "./run-lifecycle.ts";

export interface DockerOptions {
  readonly engine: EngineAddress;
  /** Installation id: containers of another one are never seen. */
  readonly install: string;
  /** The folder of homes on the engine's machine. Where the address is a socket, this machine has it by the same name. */
  readonly homeRoot: string;
  /** Disk limits of homes, where the file system enforces them. */
  readonly quota?: Quota | undefined;
  /** An image's reference by container type; called each time, because an operator may have built another one. */
  readonly images: (type: string) => Promise<string | undefined>;
  /** Names the recipe of a type in errors; by default the type is one. */
  readonly recipeOf?: (type: string) => string;
  /** References that this installation had before, whose images may be removed. */
  readonly replaced: () => Promise<readonly string[]>;
  /** Address of the engine's machine for published ports; undefined when the server is a container on the same bridge. */
  readonly publishAt: string | undefined;
  /** For errors of work in the background, such as the deletion of a home's files. */
  readonly log: Logger;
}

/**
 * Containers of a Docker Engine, on this machine or another one. Labels on each container hold its owner and its spec, so
 * nothing is kept in memory: any number of drivers agree, before and after a crash.
 */
export async function dockerDriver(options: DockerOptions): Promise<Driver> {
  const engine = openEngine(options.engine);
  const { homeRoot, log, install } = options;
  const helperDeps = { engine, install, image: () => options.images("jupyter") };
  const machine =
    "socketPath" in options.engine ? await localMachine(options) : remoteMachine(helperDeps, homeRoot, log);
  const facts = openEngineFacts(engine, machine);
  const { recipeOf = (type: string) => type } = options;
  const deps = { ...options, recipeOf, engine, machine, facts, openFiles: { limit: 65_536 }, serially: keyedMutex() };
  return {
    kind: "docker",
    machineId: async () => `the Docker Engine ${(await facts()).id} with the homes in ${homeRoot}`,
    async capabilities(refresh) {
      const { gpu, gpus, memoryMb } = await facts(refresh);
      const diskQuota = options.quota !== undefined;
      return { pause: true, warm: "paused", diskQuota, gpu, gpus, memoryMb, isolation: "container" };
    },
    prepare: openPrepareImage(deps),
    ...readOperations(deps),
    ...gpuOperations(deps),
    ...runOperations(deps),
    archive: machine.homes.archive,
    homeMb: machine.homes.sizeMb,
    countHome: machine.homes.countHome,
    restore: machine.homes.restore,
    async *logs(id, logOptions) {
      const existing = await engine.withTimeout((abortSignal) => findContainer(deps, id, abortSignal));
      if (existing) yield* containerLogs(engine, existing.container, logOptions);
    },
    watch: (signal) => watchContainers(engine, install, signal),
  };
}

function readOperations(deps: LifecycleDeps): Pick<Driver, "observe" | "list" | "stats" | "processes"> {
  const { engine, machine } = deps;
  const gpuUsage = gpuUsageOf(deps);
  return {
    observe: (id) =>
      engine.withTimeout(async (abortSignal) => {
        const info = (await findContainer(deps, id, abortSignal))?.info;
        if (info) assertOwnHome(machine, info);
        return observedOf(info);
      }),
    list: () => engine.withTimeout((abortSignal) => listRuns(deps, abortSignal)),
    stats: (id) =>
      engine.withTimeout(async (abortSignal) => {
        const { container, info } = await requireContainer(deps, id, abortSignal);
        const labels = info.Config.Labels;
        const [stats, homeMb, gpus] = await Promise.all([
          // A second reading would take a second more, for a percentage that is not used.
          container.stats({ stream: false, "one-shot": true, ...{ abortSignal } }),
          machine.homes.recentMb(labels[label.home] ?? ""),
          gpuUsage(labels[label.gpus]?.split(",") ?? []),
        ]);
        return { ...usageOf(stats), homeMb, gpus };
      }),
    processes: (id) =>
      engine.withTimeout(async (abortSignal) => {
        const { container, info } = await requireContainer(deps, id, abortSignal);
        if (!info.State.Running) throw new DriverError("refused", `${id} does not run`);
        return await listProcesses(container, abortSignal);
      }),
  };
}

/** Inspects 16 containers at a time: a host may have hundreds, and the engine has other work. */
async function listRuns(deps: LifecycleDeps, abortSignal: AbortSignal) {
  const { engine, install, machine } = deps;
  const filters = { label: [`${label.install}=${install}`, label.environment] };
  const all = await engine.docker.listContainers({ all: true, filters, abortSignal });
  const ids = all.map(({ Labels }) => Labels[label.environment] ?? "");
  const runs: { id: string; observed: Observed }[] = [];
  for (let at = 0; at < ids.length; at += 16) {
    const batch = ids.slice(at, at + 16).map(async (id) => {
      const info = (await findContainer(deps, id, abortSignal))?.info;
      return { id, observed: observedOf(info && usesOwnHome(machine, info) ? info : undefined) };
    });
    runs.push(...(await Promise.all(batch)));
  }
  return runs.filter(({ observed }) => observed.state !== "absent");
}

async function requireContainer(deps: LifecycleDeps, id: string, abortSignal: AbortSignal) {
  const existing = await findContainer(deps, id, abortSignal);
  if (!existing) throw new DriverError("refused", `there is no run ${id}`);
  return existing;
}

function gpuUsageOf({ facts, machine }: LifecycleDeps) {
  return async (ids: readonly string[]) => {
    // The machine can query its GPUs once the facts are read.
    if (gpuDevices(ids).length > 0) await facts();
    return await machine.gpuUsage(ids);
  };
}

function gpuOperations(deps: LifecycleDeps): Pick<Driver, "gpuFault" | "gpuLeftovers"> {
  const { engine, machine, facts } = deps;
  return {
    async gpuFault(id) {
      const { container, info } = await engine.withTimeout((abortSignal) => requireContainer(deps, id, abortSignal));
      return await gpuFault(engine, container, info.Config.Labels[label.gpus]?.split(",") ?? [], gpuUsageOf(deps));
    },
    gpuLeftovers: (ids) =>
      engine.withTimeout(async () => {
        if (ids.length > 0) await facts();
        return await machine.gpuLeftovers(ids);
      }),
  };
}

function runOperations(deps: LifecycleDeps): Pick<Driver, "start" | "pause" | "stop" | "remove" | "deleteHome"> {
  const { engine, serially } = deps;
  /** One operation at a time for each key. */
  const exclusively = <T>(key: string, work: (abortSignal: AbortSignal) => Promise<T>) =>
    engine.withTimeout((abortSignal) =>
      serially(key, async () => {
        // The timeout may have passed while it waited for the mutex.
        abortSignal.throwIfAborted();
        return await work(abortSignal);
      }),
    );
  const stop = (id: string, graceMs: number) =>
    exclusively(id, (abortSignal) => removeRun(deps, id, graceMs, abortSignal));
  return {
    async start(spec, signal) {
      checkSpec(spec);
      await exclusively(spec.id, (limit) => startRun(deps, spec, signal ? AbortSignal.any([signal, limit]) : limit));
    },
    pause: (id) =>
      exclusively(id, async (abortSignal) => {
        const existing = await findContainer(deps, id, abortSignal);
        if (existing?.info.State.Status === "running") await freeze(existing.container, abortSignal);
      }),
    stop,
    remove: (id) => stop(id, longestGraceMs),
    deleteHome: (home) => exclusively(`home ${home}`, (abortSignal) => deleteHome(deps, home, abortSignal)),
  };
}

async function deleteHome({ engine, machine }: LifecycleDeps, home: string, abortSignal: AbortSignal): Promise<void> {
  const folder = machine.homes.path(home);
  // Containers of every installation: two may share one folder of homes.
  const filters = { label: [`${label.home}=${home}`] };
  const containers = await engine.docker.listContainers({ all: true, filters, abortSignal });
  const isUsed = containers.some(
    ({ State, Mounts }) => State !== "exited" && State !== "dead" && Mounts.some(({ Source }) => Source === folder),
  );
  if (isUsed) throw new DriverError("refused", `a run uses ${home}`);
  await machine.homes.remove(home);
}
