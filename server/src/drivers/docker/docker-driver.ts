import { setTimeout as wait } from "node:timers/promises";
import type { ContainerInspectInfo } from "dockerode";
import { perKey } from "../../async/keyed-mutex.ts";
import { checkSegment } from "../check-segment.ts";
import { type Driver, DriverError, type Observed, type Spec } from "../driver.ts";
import type { Quota } from "../homes/find-quota.ts";
import { specHash } from "../spec-hash.ts";
import { startStep } from "../start-step.ts";
import { containerBody, containerName, gpuDevices, label } from "./containers/container-body.ts";
import { containerLogs, watchContainers } from "./containers/container-logs.ts";
import { ensureNetwork, networkName } from "./containers/ensure-network.ts";
import { freeze, thaw } from "./containers/freeze.ts";
import { observeContainer, usageOf } from "./containers/observe-container.ts";
import { type Engine, type EngineAddress, engineErrorOf, openEngine, orUndefined } from "./engine/engine.ts";
import { missingImage, openPrepareImage } from "./images/prepare-image.ts";
import { assertOwnHome, usesOwnHome } from "./machine/assert-own-home.ts";
import { deleteHome } from "./machine/delete-home.ts";
import { type EngineFacts, openEngineFacts } from "./machine/engine-facts.ts";
import { type EngineMachine, localMachine, remoteMachine } from "./machine/engine-machine.ts";
import { gpuFault } from "./machine/gpu-fault.ts";

export interface DockerOptions {
  readonly engine: EngineAddress;
  /** Installation id: what another one started is never seen. */
  readonly install: string;
  /** Where homes are on the engine's machine. Where the address is a socket, the same folder is here by the same name. */
  readonly homeRoot: string;
  /** Limits of homes on disk, where the file system keeps them. */
  readonly quota?: Quota | undefined;
  /** An image's reference by container type; asked each time, because an operator may have built another. */
  readonly images: (type: string) => Promise<string | undefined>;
  /** References that this installation had before: what it no longer needs here. */
  readonly replaced: () => Promise<readonly string[]>;
  /** Of the engine's machine, for the ports of runs; undefined when the server is a container itself, attached to the bridge. */
  readonly publishAt: string | undefined;
  /** Hears of what failed behind the back of a call, such as the deleting of a home's files. */
  readonly failed: (error: unknown) => void;
}

/**
 * Containers of a Docker Engine, on this machine or another one. Labels on each container say whose it is and what it
 * was made from, so nothing is remembered here: any number of drivers, before and after a crash, see and do the same.
 */
export async function dockerDriver(options: DockerOptions): Promise<Driver> {
  const engine = openEngine(options.engine);
  const { homeRoot, failed, install } = options;
  const errands = { engine, install, image: () => options.images("jupyter") };
  const machine =
    "socketPath" in options.engine ? await localMachine(options) : remoteMachine(errands, homeRoot, failed);
  const facts = openEngineFacts(engine, machine);
  const parts = { ...options, engine, machine, facts, files: { limit: 65_536 }, serially: perKey() };
  return { kind: "docker", ...images(parts), ...looks(parts), ...steps(parts), ...streams(parts) };
}

interface Parts extends Omit<DockerOptions, "engine"> {
  readonly engine: Engine;
  readonly machine: EngineMachine;
  readonly facts: (anew?: boolean) => Promise<EngineFacts>;
  readonly files: { limit: number | undefined };
  readonly serially: ReturnType<typeof perKey>;
}

function images(parts: Parts): Pick<Driver, "capabilities" | "prepare"> {
  const { facts, quota } = parts;
  return {
    async capabilities(anew) {
      const { gpu, gpus, memoryMb } = await facts(anew);
      const diskQuota = quota !== undefined;
      return { pause: true, warm: "paused", diskQuota, gpu, gpus, memoryMb, isolation: "container" };
    },
    prepare: openPrepareImage(parts),
  };
}

/** The container of a run, if it is there and ours. */
async function inspect({ engine, install }: Parts, id: string, abortSignal: AbortSignal) {
  const container = engine.docker.getContainer(containerName(checkSegment("environment", id)));
  const info = await orUndefined(container.inspect({ abortSignal }));
  return info?.Config.Labels[label.install] === install ? { container, info } : undefined;
}

function looks(parts: Parts): Pick<Driver, "observe" | "list" | "stats" | "homeMb" | "gpuFault" | "gpuLeftovers"> {
  const { engine, install, machine, facts } = parts;
  // Which way GPUs are asked is not known before the facts are.
  const gpuUsage = async (ids: readonly string[]) => {
    if (gpuDevices(ids).length > 0) await facts();
    return await machine.gpuUsage(ids);
  };
  return {
    observe: (id) =>
      engine.withTimeout(async (abortSignal) => {
        const info = (await inspect(parts, id, abortSignal))?.info;
        if (info) assertOwnHome(machine, info);
        return seen(info);
      }),
    list: () =>
      engine.withTimeout(async (abortSignal) => {
        const filters = { label: [`${label.install}=${install}`, label.environment] };
        const all = await engine.docker.listContainers({ all: true, filters, abortSignal });
        const ids = all.map(({ Labels }) => Labels[label.environment] ?? "");
        const found: { id: string; observed: Observed }[] = [];
        // A few at a time: a host may have hundreds, and the engine other things to do.
        for (let at = 0; at < ids.length; at += 16) {
          const some = ids.slice(at, at + 16).map(async (id) => {
            const info = (await inspect(parts, id, abortSignal))?.info;
            return { id, observed: seen(info && usesOwnHome(machine, info) ? info : undefined) };
          });
          found.push(...(await Promise.all(some)));
        }
        return found.filter(({ observed }) => observed.state !== "absent");
      }),
    stats: (id) =>
      engine.withTimeout(async (abortSignal) => {
        const found = await inspect(parts, id, abortSignal);
        if (!found) throw new DriverError("refused", `nothing runs as ${id}`);
        const labels = found.info.Config.Labels;
        const [stats, homeMb, gpus] = await Promise.all([
          // Its second reading, a second later, would only serve a percentage that nobody asks for.
          found.container.stats({ stream: false, "one-shot": true, ...{ abortSignal } }),
          machine.homes.recentMb(labels[label.home] ?? ""),
          gpuUsage(labels[label.gpus]?.split(",") ?? []),
        ]);
        return { ...usageOf(stats), homeMb, gpus };
      }),
    homeMb: machine.homes.sizeMb,
    async gpuFault(id) {
      const found = await engine.withTimeout((abortSignal) => inspect(parts, id, abortSignal));
      if (!found) throw new DriverError("refused", `nothing runs as ${id}`);
      return await gpuFault(engine, found.container, found.info.Config.Labels[label.gpus]?.split(",") ?? [], gpuUsage);
    },
    gpuLeftovers: (ids) =>
      engine.withTimeout(async () => {
        if (ids.length > 0) await facts();
        return await machine.gpuLeftovers(ids);
      }),
  };
}

function seen(info: ContainerInspectInfo | undefined): Observed {
  return info ? observeContainer(info) : { state: "absent" };
}

const longestGraceMs = 5_000;

function steps(parts: Parts): Pick<Driver, "start" | "pause" | "stop" | "remove" | "deleteHome"> {
  const { engine, serially } = parts;
  const inTurn = <T>(key: string, work: (abortSignal: AbortSignal) => Promise<T>) =>
    engine.withTimeout((abortSignal) =>
      serially(key, async () => {
        // Its time may have run out while it waited for another verb.
        abortSignal.throwIfAborted();
        return await work(abortSignal);
      }),
    );
  const stop = (id: string, graceMs: number) => inTurn(id, (abortSignal) => end(parts, id, graceMs, abortSignal));
  return {
    async start(spec, signal) {
      checkSegment("environment", spec.id);
      checkSegment("home", spec.home);
      checkSegment("image", spec.image);
      await inTurn(spec.id, (limit) => start(parts, spec, signal ? AbortSignal.any([signal, limit]) : limit));
    },
    pause: (id) =>
      inTurn(id, async (abortSignal) => {
        const found = await inspect(parts, id, abortSignal);
        if (found?.info.State.Status === "running") await freeze(found.container, abortSignal);
      }),
    stop,
    remove: (id) => stop(id, longestGraceMs),
    deleteHome: (home) => inTurn(`home ${home}`, (abortSignal) => deleteHome(parts, home, abortSignal)),
  };
}

async function start(parts: Parts, spec: Spec, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const found = await inspect(parts, spec.id, signal);
  if (found) assertOwnHome(parts.machine, found.info);
  const step = startStep(seen(found?.info), { generation: spec.generation, specHash: specHash(spec) });
  if (step === "resume" && found) await thaw(found.container, signal);
  // Its starter died after the create call: nothing but the start is missing.
  const isCreated = step === "none" && found?.info.State.Status === "created";
  if (step !== "create" && !isCreated) return;
  if (found && !isCreated) await end(parts, spec.id, 1_000, signal);
  try {
    await (isCreated ? begin(parts, spec.id, signal) : createAndBegin(parts, spec, signal));
  } catch (error) {
    if (!isLimitRefused(error)) throw signal.aborted ? signal.reason : error;
    // An engine that is itself confined cannot give more than it has, and says so of no other call than this.
    parts.files.limit = undefined;
    await end(parts, spec.id, 0, signal);
    await createAndBegin(parts, spec, signal);
  }
}

function isLimitRefused(error: unknown): boolean {
  return /error setting rlimit/.test(engineErrorOf(error)?.words ?? "");
}

/** Both or, as far as the engine can be reached, neither. */
async function createAndBegin(parts: Parts, spec: Spec, signal: AbortSignal): Promise<void> {
  try {
    await create(parts, spec, signal);
    await begin(parts, spec.id, signal);
  } catch (error) {
    // Under a limit of its own, because this one may have passed. What stays nevertheless is seen, and ended, later.
    await parts.engine.withTimeout((limit) => undo(parts, spec, signal, limit)).catch(() => {});
    throw error;
  }
}

/** Never another server's run; one that runs after all only when its own caller gave it up. */
async function undo(parts: Parts, spec: Spec, signal: AbortSignal, limit: AbortSignal): Promise<void> {
  const there = await inspect(parts, spec.id, limit);
  if (there?.info.Config.Labels[label.spec] !== specHash(spec)) return;
  const givenUp = signal.aborted && !(signal.reason instanceof DriverError);
  if (givenUp || !there.info.State.Running) await end(parts, spec.id, 0, limit);
}

async function create(parts: Parts, spec: Spec, abortSignal: AbortSignal): Promise<void> {
  const { engine, install, publishAt } = parts;
  const image = await parts.images(spec.image);
  if (!image) throw missingImage(spec.image, parts.machine);
  const { cpus, gpu, gpus } = await parts.facts();
  const missing = gpuDevices(spec.gpus).filter((wanted) => !gpus.some(({ id }) => id === wanted));
  if (missing.length > 0) throw new DriverError("no_gpu", `this host has no ${missing.join(", ")}`);
  const home = parts.machine.homes.path(spec.home);
  const openFiles = parts.files.limit;
  const place = { install, image, home, network: networkName(install), publishAt, cpus, gpu, openFiles };
  const body = containerBody(spec, place);
  await parts.serially(`home ${spec.home}`, async () => {
    await parts.machine.homes.make(spec);
    // Apart from each other: dockerode otherwise writes the whole body, token and all, into the address too.
    const request = { _query: { name: containerName(spec.id) }, _body: body, abortSignal };
    try {
      await engine.docker.createContainer(request as object);
    } catch (error) {
      const status = engineErrorOf(error)?.status;
      if (status === 404) throw missingImage(spec.image, parts.machine);
      if (status !== 409) throw error;
      // Another server was quicker, with the very same run if we are to go on.
      const labels = await labelsOf(parts, spec.id, abortSignal);
      if (labels[label.install] !== install || labels[label.spec] !== specHash(spec))
        throw new DriverError("refused", `${containerName(spec.id)} exists already and is another one`);
    }
  });
}

/** Of whichever container has the name. It is taken a moment before the engine can say by whom. */
async function labelsOf({ engine }: Parts, id: string, abortSignal: AbortSignal): Promise<Record<string, string>> {
  for (;;) {
    const info = await orUndefined(engine.docker.getContainer(containerName(id)).inspect({ abortSignal }));
    if (info) return info.Config.Labels;
    await wait(50, undefined, { signal: abortSignal });
  }
}

/** Starts what was created. The network is looked for only when it is missed, which is once in an installation's life. */
async function begin({ engine, install, serially }: Parts, id: string, abortSignal: AbortSignal): Promise<void> {
  const container = engine.docker.getContainer(containerName(id));
  const go = () =>
    container.start({ abortSignal }).catch((error) => {
      // It runs already.
      if (engineErrorOf(error)?.status !== 304) throw error;
    });
  try {
    await go();
  } catch (error) {
    if (!/network .* not found/.test(engineErrorOf(error)?.words ?? "")) throw error;
    await serially("network", () => ensureNetwork(engine, install, abortSignal));
    await go();
  }
}

/** `stop` and removal in one: absent is done. */
async function end(parts: Parts, id: string, graceMs: number, abortSignal: AbortSignal): Promise<void> {
  const found = await inspect(parts, id, abortSignal);
  if (!found) return;
  const { container, info } = found;
  const seconds = Math.ceil(Math.min(graceMs, longestGraceMs) / 1000);
  // A frozen process hears nothing, so its grace would be lost.
  if (info.State.Paused && seconds > 0) await thaw(container, abortSignal);
  if (info.State.Running) await orUndefined(container.stop({ t: seconds, abortSignal }));
  try {
    await orUndefined(container.remove({ force: true, v: true, abortSignal }));
  } catch (error) {
    if (engineErrorOf(error)?.status !== 409) throw error;
    // Its removal is on its way already.
    await orUndefined(container.wait({ condition: "removed", abortSignal }));
  }
}

function streams(parts: Parts): Pick<Driver, "logs" | "watch" | "archive"> {
  const { engine, install, machine } = parts;
  return {
    archive: machine.homes.archive,
    async *logs(id, options) {
      const found = await engine.withTimeout((abortSignal) => inspect(parts, id, abortSignal));
      if (found) yield* containerLogs(engine, found.container, options);
    },
    watch: (signal) => watchContainers(engine, install, signal),
  };
}
