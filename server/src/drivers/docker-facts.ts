import { readdir } from "node:fs/promises";
import type { Engine } from "./docker-engine.ts";
import type { Capabilities } from "./driver.ts";
import { hostGpus } from "./nvidia-smi.ts";

export interface EngineFacts extends Pick<Capabilities, "gpus"> {
  readonly apiVersion: string;
  readonly os: string;
  readonly cpus: number;
  readonly liveRestore: boolean;
  readonly gpu: "cdi" | "nvidia" | "none";
}

interface EngineInfo {
  readonly OSType: string;
  readonly NCPU: number;
  readonly LiveRestoreEnabled: boolean;
  readonly CDISpecDirs?: readonly string[] | null;
}

/** What the engine and its machine are, probed and never configured. */
export async function readFacts({ docker }: Engine, abortSignal: AbortSignal): Promise<EngineFacts> {
  // Both take it, though their types do not say so.
  const given = { abortSignal } as unknown as () => void;
  const [info, { ApiVersion }, gpus] = await Promise.all([
    docker.info(given) as unknown as Promise<EngineInfo>,
    docker.version(given) as unknown as Promise<{ ApiVersion: string }>,
    hostGpus(),
  ]);
  const gpu = gpus.length === 0 ? "none" : (await hasCdi(info.CDISpecDirs ?? [])) ? "cdi" : "nvidia";
  return { apiVersion: ApiVersion, os: info.OSType, cpus: info.NCPU, liveRestore: info.LiveRestoreEnabled, gpu, gpus };
}

/** An engine names these folders from API 1.44 on, and only when CDI is switched on. */
async function hasCdi(folders: readonly string[]): Promise<boolean> {
  const files = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  return files.flat().some((name) => name.includes("nvidia"));
}
