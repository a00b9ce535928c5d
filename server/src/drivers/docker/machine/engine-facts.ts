import type { Engine } from "../engine/engine.ts";
import type { EngineMachine, GpuHints, MachineGpus } from "./engine-machine.ts";

interface EngineInfo {
  /** The engine's id, which copies of a machine and two engines of one share, with the machine's name and the engine's folder. */
  readonly id: string;
  readonly apiVersion: string;
  readonly os: string;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly liveRestore: boolean;
  readonly gpuHints: GpuHints;
}

interface InfoResponse extends GpuHints {
  readonly ID: string;
  readonly Name: string;
  readonly DockerRootDir: string;
  readonly OSType: string;
  readonly NCPU: number;
  readonly MemTotal: number;
  readonly LiveRestoreEnabled: boolean;
}

export interface EngineFacts extends EngineInfo, MachineGpus {}

/** From the engine's calls `info` and `version`. */
export async function readEngineInfo({ docker }: Engine, abortSignal: AbortSignal): Promise<EngineInfo> {
  // Both take options, which their types leave out.
  const options = { abortSignal } as unknown as () => void;
  const [info, { ApiVersion }] = await Promise.all([
    docker.info(options) as unknown as Promise<InfoResponse>,
    docker.version(options) as unknown as Promise<{ ApiVersion: string }>,
  ]);
  const { ID, Name, DockerRootDir, OSType: os, NCPU: cpus, MemTotal, LiveRestoreEnabled: liveRestore } = info;
  const memoryMb = Math.floor(MemTotal / (1024 * 1024));
  return {
    id: `${ID} on ${Name} in ${DockerRootDir}`,
    apiVersion: ApiVersion,
    os,
    cpus,
    memoryMb,
    liveRestore,
    gpuHints: info,
  };
}

/** Facts of the engine and its machine, probed once and again on `refresh`. A failure is not kept. */
export function openEngineFacts(
  engine: Engine,
  machine: Pick<EngineMachine, "gpus">,
): (refresh?: boolean) => Promise<EngineFacts> {
  let known: Promise<EngineFacts> | undefined;
  const read = async (abortSignal: AbortSignal) => {
    const info = await readEngineInfo(engine, abortSignal);
    return { ...info, ...(await machine.gpus(info.gpuHints)) };
  };
  return (refresh = false) => {
    if (refresh) known = undefined;
    known ??= engine.withTimeout(read);
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}
