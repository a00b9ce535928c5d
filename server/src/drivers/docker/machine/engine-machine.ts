import { chown, readdir } from "node:fs/promises";
import { remember } from "../../../async/memoize.ts";
import { type Capabilities, DriverError, type Stats } from "../../driver.ts";
import type { Quota } from "../../homes/find-quota.ts";
import { type Homes, openLocalHomes } from "../../homes/local-homes.ts";
import { runUser } from "../containers/container-body.ts";
import { type HelperDeps, helperOutput } from "../containers/helper-container.ts";
import { gpuLeftovers, gpuUsage, hostGpus, type QueryGpus } from "./nvidia-smi.ts";
import { remoteHomes } from "./remote-homes.ts";

/** Of folders that belong to whom every run runs as, with their limits where there are limits. */
export type EngineHomes = Homes;

/** What an engine says of itself as far as GPUs go; each version says another part. */
export interface GpuHints {
  readonly CDISpecDirs?: readonly string[] | null;
  readonly DiscoveredDevices?: readonly { readonly ID: string }[] | null;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
}

export interface MachineGpus extends Pick<Capabilities, "gpus"> {
  readonly gpu: "cdi" | "nvidia" | "none";
}

/** What is not the engine's own: the files and the GPUs of the machine that it runs on. */
export interface EngineMachine {
  /** Whether this process is on that machine, and sees its folders. */
  readonly isLocal: boolean;
  readonly homes: EngineHomes;
  gpus(hints: GpuHints): Promise<MachineGpus>;
  /** What these GPUs do now. */
  gpuUsage(ids: readonly string[]): Promise<Stats["gpus"]>;
  /** As `Driver.gpuResidue`. */
  gpuLeftovers(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

interface LocalParts {
  readonly homeRoot: string;
  readonly quota?: Quota | undefined;
  readonly failed: (error: unknown) => void;
}

export async function localMachine({ homeRoot, quota, failed }: LocalParts): Promise<EngineMachine> {
  const homes = await openLocalHomes(homeRoot, failed);
  return {
    isLocal: true,
    homes: {
      ...homes,
      async make(spec) {
        await homes.make(spec);
        if (process.getuid?.() === 0) await chown(homes.path(spec.home), runUser, runUser);
        await quota?.limit(spec.home, spec.limits.diskGb);
      },
      async remove(home) {
        await quota?.lift(home);
        await homes.remove(home);
      },
    },
    gpus: localGpus,
    gpuUsage: (ids) => gpuUsage(ids),
    gpuLeftovers: (ids) => gpuLeftovers(ids),
  };
}

async function localGpus({ CDISpecDirs }: GpuHints): Promise<MachineGpus> {
  const gpus = await hostGpus();
  return { gpus, gpu: gpus.length === 0 ? "none" : (await hasCdi(CDISpecDirs ?? [])) ? "cdi" : "nvidia" };
}

/** An engine names these folders from API 1.44 on, and only when CDI is switched on. */
async function hasCdi(folders: readonly string[]): Promise<boolean> {
  const files = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  return files.flat().some((name) => name.includes("nvidia"));
}

/** The same through the engine alone, by containers that live for a moment. */
export function remoteMachine(parts: HelperDeps, homeRoot: string, failed: (error: unknown) => void): EngineMachine {
  let way: MachineGpus["gpu"] = "none";
  const usage = remember(async () => await queryInside(parts, way)("uuid,utilization.gpu,memory.used,power.draw"));
  return {
    isLocal: false,
    homes: remoteHomes(parts, homeRoot, failed),
    async gpus(hints) {
      const found = await probe(parts, hints);
      way = found.gpu;
      return found;
    },
    gpuUsage: (ids) => (way === "none" ? Promise.resolve([]) : gpuUsage(ids, usage)),
    gpuLeftovers: (ids) => gpuLeftovers(ids, queryInside(parts, way)),
  };
}

/** By the very request that a run will make: what answers here is what a run gets. */
async function probe(parts: HelperDeps, hints: GpuHints): Promise<MachineGpus> {
  for (const gpu of waysOf(hints)) {
    const gpus = await hostGpus(queryInside(parts, gpu)).catch(noneOf);
    if (gpus.length > 0) return { gpu, gpus };
  }
  return { gpu: "none", gpus: [] };
}

/** It may know the way, and have no GPU. */
function noneOf(error: unknown): Capabilities["gpus"] {
  if (error instanceof DriverError && error.code === "no_gpu") return [];
  throw error;
}

/** Older engines say that CDI is on, not which devices they know. */
function waysOf({ CDISpecDirs, DiscoveredDevices, Runtimes }: GpuHints): ("cdi" | "nvidia")[] {
  const known = DiscoveredDevices?.some(({ ID }) => ID.startsWith("nvidia.com/gpu="));
  const isCdi = known ?? (CDISpecDirs ?? []).length > 0;
  return [...(isCdi ? ["cdi" as const] : []), ...(Runtimes?.["nvidia"] ? ["nvidia" as const] : [])];
}

function queryInside(parts: HelperDeps, gpu: MachineGpus["gpu"]): QueryGpus {
  const devices = {
    cdi: [{ Driver: "cdi", DeviceIDs: ["nvidia.com/gpu=all"] }],
    nvidia: [{ Driver: "nvidia", Count: -1, Capabilities: [["gpu", "compute", "utility"]] }],
    none: [],
  }[gpu];
  return async (fields, of = "gpu") => {
    const args = [`--query-${of}=${fields}`, "--format=csv,noheader,nounits"];
    return await helperOutput(parts, { script: 'nvidia-smi "$@"', args, devices });
  };
}
