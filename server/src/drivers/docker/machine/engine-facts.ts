import type { Engine } from "../engine/engine.ts";
import type { EngineMachine, GpuHints, MachineGpus } from "./engine-machine.ts";

interface EngineSaid {
  readonly apiVersion: string;
  readonly os: string;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly liveRestore: boolean;
  readonly hints: GpuHints;
}

interface EngineInfo extends GpuHints {
  readonly OSType: string;
  readonly NCPU: number;
  readonly MemTotal: number;
  readonly LiveRestoreEnabled: boolean;
}

export interface EngineFacts extends EngineSaid, MachineGpus {}

/** What the engine says of itself. */
export async function readEngineInfo({ docker }: Engine, abortSignal: AbortSignal): Promise<EngineSaid> {
  // Both take it, though their types do not say so.
  const given = { abortSignal } as unknown as () => void;
  const [info, { ApiVersion }] = await Promise.all([
    docker.info(given) as unknown as Promise<EngineInfo>,
    docker.version(given) as unknown as Promise<{ ApiVersion: string }>,
  ]);
  const { OSType: os, NCPU: cpus, MemTotal, LiveRestoreEnabled: liveRestore } = info;
  const memoryMb = Math.floor(MemTotal / (1024 * 1024));
  return { apiVersion: ApiVersion, os, cpus, memoryMb, liveRestore, hints: info };
}

/** What the engine and its machine are, probed once and never configured. */
export function openEngineFacts(
  engine: Engine,
  machine: Pick<EngineMachine, "gpus">,
): (anew?: boolean) => Promise<EngineFacts> {
  let known: Promise<EngineFacts> | undefined;
  const read = async (abortSignal: AbortSignal) => {
    const said = await readEngineInfo(engine, abortSignal);
    return { ...said, ...(await machine.gpus(said.hints)) };
  };
  return (anew = false) => {
    if (anew) known = undefined;
    known ??= engine.withTimeout(read);
    // Not kept of an engine that was away when it was asked first.
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}
