import { setTimeout as wait } from "node:timers/promises";
import type { Container, ContainerInspectInfo } from "dockerode";
import { checkSegment } from "../check-segment.ts";
import { DriverError, type Observed, type Spec } from "../driver.ts";
import { specHash } from "../spec-hash.ts";
import { startStep } from "../start-step.ts";
import { containerBody, containerName, gpuDevices, label } from "./containers/container-body.ts";
import { ensureNetwork, networkName } from "./containers/ensure-network.ts";
import { createContainer } from "./containers/ephemeral-container.ts";
import { thaw } from "./containers/freeze.ts";
import { observeContainer } from "./containers/observe-container.ts";
import type { Engine } from "./engine/engine.ts";
import { engineErrorOf, orUndefined } from "./engine/engine-errors.ts";
import { missingImage } from "./images/prepare-image.ts";
import { assertOwnHome } from "./machine/assert-own-home.ts";
import type { EngineFacts } from "./machine/engine-facts.ts";
import type { EngineMachine } from "./machine/engine-machine.ts";

export interface LifecycleDeps {
  readonly engine: Engine;
  readonly install: string;
  readonly images: (type: string) => Promise<string | undefined>;
  readonly recipeOf: (type: string) => string;
  readonly publishAt: string | undefined;
  readonly machine: EngineMachine;
  readonly facts: (refresh?: boolean) => Promise<EngineFacts>;
  /** Limit of open files of a process; undefined after an engine refused to set one. */
  readonly openFiles: { limit: number | undefined };
  readonly serially: <T>(key: string, work: () => Promise<T>) => Promise<T>;
}

interface RunContainer {
  readonly container: Container;
  readonly info: ContainerInspectInfo;
}

/** The container of a run of this installation; undefined when there is none. */
export async function findContainer(
  { engine, install }: Pick<LifecycleDeps, "engine" | "install">,
  id: string,
  abortSignal: AbortSignal,
): Promise<RunContainer | undefined> {
  const container = engine.docker.getContainer(containerName(checkSegment("environment", id)));
  const info = await orUndefined(container.inspect({ abortSignal }));
  return info?.Config.Labels[label.install] === install ? { container, info } : undefined;
}

export function observedOf(info: ContainerInspectInfo | undefined): Observed {
  return info ? observeContainer(info) : { state: "absent" };
}

/** As `Driver.start`. */
export async function startRun(deps: LifecycleDeps, spec: Spec, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const existing = await findContainer(deps, spec.id, signal);
  if (existing) assertOwnHome(deps.machine, existing.info);
  const step = startStep(observedOf(existing?.info), { generation: spec.generation, specHash: specHash(spec) });
  if (step === "resume" && existing) await thaw(existing.container, signal);
  // The server that created it was killed before it started it.
  const isCreated = step === "none" && existing?.info.State.Status === "created";
  if (step !== "create" && !isCreated) return;
  if (existing && !isCreated) await removeRun(deps, spec.id, 1_000, signal);
  try {
    await (isCreated ? startContainer(deps, spec.id, signal) : createAndStart(deps, spec, signal));
  } catch (error) {
    if (engineErrorOf(error)?.kind !== "open_files_limit") throw signal.aborted ? signal.reason : error;
    // An engine in a container cannot raise the limit above its own, and refuses only when the run starts.
    deps.openFiles.limit = undefined;
    await removeRun(deps, spec.id, 0, signal);
    await createAndStart(deps, spec, signal);
  }
}

/** Leaves nothing when one of both fails, unless the engine cannot be reached any more. */
async function createAndStart(deps: LifecycleDeps, spec: Spec, signal: AbortSignal): Promise<void> {
  try {
    await createRun(deps, spec, signal);
    await startContainer(deps, spec.id, signal);
  } catch (error) {
    // Within a timeout of its own, because the first may have passed. The reconciler removes leftovers.
    await deps.engine.withTimeout((limit) => rollBack(deps, spec, signal, limit)).catch(() => {});
    throw error;
  }
}

/** Keeps another server's container, and one that runs after all, unless the caller gave it up. */
async function rollBack(deps: LifecycleDeps, spec: Spec, signal: AbortSignal, limit: AbortSignal): Promise<void> {
  const existing = await findContainer(deps, spec.id, limit);
  if (existing?.info.Config.Labels[label.spec] !== specHash(spec)) return;
  const isGivenUp = signal.aborted && !(signal.reason instanceof DriverError);
  if (isGivenUp || !existing.info.State.Running) await removeRun(deps, spec.id, 0, limit);
}

async function createRun(deps: LifecycleDeps, spec: Spec, abortSignal: AbortSignal): Promise<void> {
  const { engine, install, publishAt, machine } = deps;
  const image = await deps.images(spec.image);
  if (!image) throw missingImage(spec.image, deps);
  const { cpus, gpu, gpus } = await deps.facts();
  const missing = gpuDevices(spec.gpus).filter((wanted) => !gpus.some(({ id }) => id === wanted));
  if (missing.length > 0) throw new DriverError("no_gpu", `this host has no ${missing.join(", ")}`);
  const home = machine.homes.path(spec.home);
  const network = networkName(install);
  const body = containerBody(spec, {
    install,
    image,
    home,
    network,
    publishAt,
    cpus,
    gpu,
    openFiles: deps.openFiles.limit,
  });
  await deps.serially(`home ${spec.home}`, async () => {
    await machine.homes.make(spec);
    try {
      await createContainer(engine, containerName(spec.id), body, abortSignal);
    } catch (error) {
      const status = engineErrorOf(error)?.status;
      if (status === 404) throw missingImage(spec.image, deps);
      if (status !== 409) throw error;
      // Another server has created it. Only the same run may be started.
      const labels = await labelsOf(engine, spec.id, abortSignal);
      if (labels[label.install] !== install || labels[label.spec] !== specHash(spec))
        throw new DriverError("refused", `another container has the name ${containerName(spec.id)}`);
    }
  });
}

/** The labels of any installation's container with this name, which is taken a moment before the engine can show it. */
async function labelsOf(engine: Engine, id: string, abortSignal: AbortSignal): Promise<Record<string, string>> {
  for (;;) {
    const info = await orUndefined(engine.docker.getContainer(containerName(id)).inspect({ abortSignal }));
    if (info) return info.Config.Labels;
    await wait(50, undefined, { signal: abortSignal });
  }
}

/** The network is only created when a start fails without it, which happens once in the life of an installation. */
async function startContainer(deps: LifecycleDeps, id: string, abortSignal: AbortSignal): Promise<void> {
  const { engine, install, serially } = deps;
  const container = engine.docker.getContainer(containerName(id));
  const start = () =>
    container.start({ abortSignal }).catch((error) => {
      // 304: it runs already.
      if (engineErrorOf(error)?.status !== 304) throw error;
    });
  try {
    await start();
  } catch (error) {
    if (engineErrorOf(error)?.kind !== "no_network") throw error;
    await serially("network", () => ensureNetwork(engine, install, abortSignal));
    await start();
  }
}

export const longestGraceMs = 5_000;

/** As `Driver.stop`. */
export async function removeRun(
  deps: Pick<LifecycleDeps, "engine" | "install">,
  id: string,
  graceMs: number,
  abortSignal: AbortSignal,
): Promise<void> {
  const existing = await findContainer(deps, id, abortSignal);
  if (!existing) return;
  const { container, info } = existing;
  const seconds = Math.ceil(Math.min(graceMs, longestGraceMs) / 1000);
  // A frozen process gets no signal, so its grace would be lost.
  if (info.State.Paused && seconds > 0) await thaw(container, abortSignal);
  if (info.State.Running) await orUndefined(container.stop({ t: seconds, abortSignal }));
  try {
    await orUndefined(container.remove({ force: true, v: true, abortSignal }));
  } catch (error) {
    if (engineErrorOf(error)?.status !== 409) throw error;
    // 409: its removal is in progress.
    await orUndefined(container.wait({ condition: "removed", abortSignal }));
  }
}
