import type { Container } from "dockerode";
import type { Engine } from "../engine/engine.ts";
import { engineErrorOf, orUndefined } from "../engine/engine-errors.ts";
import { containerBody, ephemeral, label } from "./container-body.ts";

export interface EphemeralDeps {
  readonly engine: Engine;
  readonly install: string;
}

interface EphemeralOptions {
  /** Removed by `pruneEphemeral` where it is an `isEphemeralName`. */
  readonly name: string;
  readonly image: string;
  readonly network: string;
  /** What differs from a run, as the engine's API names it. */
  readonly HostConfig?: { readonly AutoRemove?: false; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** Whether a name, with or without the engine's leading slash, is that of an ephemeral container. */
export const isEphemeralName = (name: string) => /^\/?(helper|probe)-/.test(name);

/**
 * Creates a container of ours that is no run: with the limits of one, but without a home and without the labels that would
 * list it as one. Removed when it ends. The create call takes no signal of a caller: its container would stay.
 */
export async function createEphemeral(
  { engine, install }: EphemeralDeps,
  { name, image, network, HostConfig: own, ...rest }: EphemeralOptions,
): Promise<Container> {
  const limits = { cpus: 1, memoryMb: 256, shmMb: 16, pids: 32, diskGb: 1 };
  const spec = { id: name, generation: 1, image, token: "", home: "", gpus: [], limits };
  const { HostConfig, ...body } = containerBody(spec, { ...ephemeral, install, image, home: "", network });
  const request = {
    ...{ ...body, ...rest },
    Labels: { [label.install]: install },
    HostConfig: { ...HostConfig, Mounts: [], AutoRemove: true, ...own },
  };
  try {
    return await engine.withTimeout((abortSignal) => createContainer(engine, name, request, abortSignal));
  } catch (error) {
    // The container may exist although the response was lost.
    if (request.HostConfig.AutoRemove && !engineErrorOf((error as Error).cause)) await removeEphemeral(engine, name);
    throw error;
  }
}

/** Name and body go separately: dockerode otherwise writes the whole body, tokens included, into the URL too. */
export async function createContainer(
  { docker }: Engine,
  name: string,
  body: object,
  abortSignal: AbortSignal,
): Promise<Container> {
  return await docker.createContainer({ _query: { name }, _body: body, abortSignal } as object);
}

/** Failures are left to `pruneEphemeral`. */
export async function removeEphemeral({ docker, withTimeout }: Engine, name: string): Promise<void> {
  const remove = (abortSignal: AbortSignal) => docker.getContainer(name).remove({ force: true, abortSignal });
  await withTimeout((abortSignal) => orUndefined(remove(abortSignal), 409)).catch(() => {});
}

const staleMs = 3_600_000;

/** Removes the containers of a server that was killed between create and start: the engine only removes those that end. */
export async function pruneEphemeral({ engine, install }: EphemeralDeps): Promise<void> {
  const filters = { label: [`${label.install}=${install}`], status: ["created"] };
  const all = await engine.withTimeout((abortSignal) =>
    engine.docker.listContainers({ all: true, filters, abortSignal }),
  );
  for (const { Id, Names, Created } of all)
    if (isEphemeralName(Names[0] ?? "") && Date.now() - Created * 1000 > staleMs) await removeEphemeral(engine, Id);
}
