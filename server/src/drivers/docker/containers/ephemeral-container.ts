import type { Container } from "dockerode";
import { type Engine, engineErrorOf, orUndefined } from "../engine/engine.ts";
import { containerBody, ephemeral, label } from "./container-body.ts";

export interface EphemeralDeps {
  readonly engine: Engine;
  readonly install: string;
}

interface Scratch {
  /** Begins with `errand-` or `probe-`, or it stays. */
  readonly name: string;
  readonly image: string;
  readonly network: string;
  /** What differs from a run, in the engine's words. */
  readonly HostConfig?: { readonly AutoRemove?: false; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/**
 * A container of ours that is no run: with the flags of one, without what would make it count as one or give it a home.
 * Gone when it ends. Never given up half-way with a caller: what the engine makes after that would stay.
 */
export async function createEphemeral(
  { engine, install }: EphemeralDeps,
  { name, image, network, HostConfig: own, ...rest }: Scratch,
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
    // Apart from each other: dockerode otherwise writes the whole body into the address too.
    const asked = { _query: { name }, _body: request };
    return await engine.withTimeout((abortSignal) =>
      engine.docker.createContainer({ ...asked, abortSignal } as object),
    );
  } catch (error) {
    // It may have been made nevertheless, and only its answer lost.
    if (request.HostConfig.AutoRemove && !engineErrorOf((error as Error).cause)) await removeEphemeral(engine, name);
    throw error;
  }
}

/** What cannot be removed now is found by `pruneScratch`. */
export async function removeEphemeral({ docker, withTimeout }: Engine, name: string): Promise<void> {
  const remove = (abortSignal: AbortSignal) => docker.getContainer(name).remove({ force: true, abortSignal });
  await withTimeout((abortSignal) => orUndefined(remove(abortSignal), 409)).catch(() => {});
}

const staleMs = 3_600_000;

/** Takes away what a server that was killed between create and start has left: the engine itself only does at an end. */
export async function pruneEphemeral({ engine, install }: EphemeralDeps): Promise<void> {
  const filters = { label: [`${label.install}=${install}`], status: ["created"] };
  const all = await engine.withTimeout((abortSignal) =>
    engine.docker.listContainers({ all: true, filters, abortSignal }),
  );
  for (const { Id, Names, Created } of all)
    if (/^\/(errand|probe)-/.test(Names[0] ?? "") && Date.now() - Created * 1000 > staleMs)
      await removeEphemeral(engine, Id);
}
