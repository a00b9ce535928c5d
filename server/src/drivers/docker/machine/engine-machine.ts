import { readdir } from "node:fs/promises";
import { memoize } from "../../../async/memoize.ts";
import type { Logger } from "../../../logging/create-logger.ts";
import { type Capabilities, DriverError, type Stats } from "../../driver.ts";
import type { Quota } from "../../homes/find-quota.ts";
import { giveHome } from "../../homes/give-home.ts";
import type { HomeStore } from "../../homes/home-store.ts";
import { openLocalHomes } from "../../homes/local-homes.ts";
import { restoreHome } from "../../homes/restore-home.ts";
import { runUser } from "../containers/container-body.ts";
import { type HelperDeps, helperOutput } from "../containers/helper-container.ts";
import { gpuLeftovers, gpuUsage, hostGpus, type QueryGpus } from "./nvidia-smi.ts";
import { remoteHomes } from "./remote-homes.ts";

/** GPU support that an engine reports; each version reports another part of it. */
export interface GpuHints {
  readonly CDISpecDirs?: readonly string[] | null;
  readonly DiscoveredDevices?: readonly { readonly ID: string }[] | null;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
}

export interface MachineGpus extends Pick<Capabilities, "gpus"> {
  readonly gpu: "cdi" | "nvidia" | "none";
}

/** The files and GPUs of the machine that an engine runs on. */
export interface EngineMachine {
  /** Whether this process runs on that machine and sees its folders. */
  readonly isLocal: boolean;
  /** Their folders belong to the user of every run. */
  readonly homes: HomeStore;
  gpus(hints: GpuHints): Promise<MachineGpus>;
  /** Use, memory and power of these GPUs now. */
  gpuUsage(ids: readonly string[]): Promise<Stats["gpus"]>;
  /** As `Driver.gpuLeftovers`. */
  gpuLeftovers(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

interface LocalDeps {
  readonly homeRoot: string;
  readonly quota?: Quota | undefined;
  readonly log: Logger;
}

export async function localMachine({ homeRoot, quota, log }: LocalDeps): Promise<EngineMachine> {
  const folders = await openLocalHomes(homeRoot, log);
  const homes: Omit<HomeStore, "restore"> = {
    ...folders,
    async make(spec) {
      await folders.make(spec);
      await giveHome(folders.path(spec.home), { uid: runUser, gid: runUser });
      await quota?.limit(spec.home, spec.limits.diskGb);
    },
    async remove(home) {
      await quota?.lift(home);
      await folders.remove(home);
    },
  };
  return {
    isLocal: true,
    homes: { ...homes, restore: restoreHome(homes, { uid: runUser, gid: runUser }) },
    gpus: localGpus,
    gpuUsage: (ids) => gpuUsage(ids),
    gpuLeftovers: (ids) => gpuLeftovers(ids),
  };
}

async function localGpus({ CDISpecDirs }: GpuHints): Promise<MachineGpus> {
  const gpus = await hostGpus();
  return { gpus, gpu: gpus.length === 0 ? "none" : (await hasCdi(CDISpecDirs ?? [])) ? "cdi" : "nvidia" };
}

/** An engine reports these folders from API 1.44 on, and only when CDI is switched on. */
async function hasCdi(folders: readonly string[]): Promise<boolean> {
  const files = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  return files.flat().some((name) => name.includes("nvidia"));
}

/** Another machine, reached through its engine alone, by helper containers. */
export function remoteMachine(deps: HelperDeps, homeRoot: string, log: Logger): EngineMachine {
  let known: MachineGpus["gpu"] = "none";
  const usage = memoize(async () => await queryInside(deps, known)("uuid,utilization.gpu,memory.used,power.draw"));
  return {
    isLocal: false,
    homes: remoteHomes(deps, homeRoot, log),
    async gpus(hints) {
      const probed = await probeGpus(deps, hints);
      known = probed.gpu;
      return probed;
    },
    gpuUsage: (ids) => (known === "none" ? Promise.resolve([]) : gpuUsage(ids, usage)),
    gpuLeftovers: (ids) => gpuLeftovers(ids, queryInside(deps, known)),
  };
}

/** Uses the request that a run will make, so that a run gets what the probe got. */
async function probeGpus(deps: HelperDeps, hints: GpuHints): Promise<MachineGpus> {
  for (const gpu of supportedBy(hints)) {
    const gpus = await hostGpus(queryInside(deps, gpu)).catch(noneIfNoGpu);
    if (gpus.length > 0) return { gpu, gpus };
  }
  return { gpu: "none", gpus: [] };
}

/** An engine may support GPUs on a machine that has none. */
function noneIfNoGpu(error: unknown): Capabilities["gpus"] {
  if (error instanceof DriverError && error.code === "no_gpu") return [];
  throw error;
}

/** Older engines report that CDI is on, but not which devices they know. */
function supportedBy({ CDISpecDirs, DiscoveredDevices, Runtimes }: GpuHints): ("cdi" | "nvidia")[] {
  const hasDevices = DiscoveredDevices?.some(({ ID }) => ID.startsWith("nvidia.com/gpu="));
  const isCdi = hasDevices ?? (CDISpecDirs ?? []).length > 0;
  return [...(isCdi ? ["cdi" as const] : []), ...(Runtimes?.["nvidia"] ? ["nvidia" as const] : [])];
}

function queryInside(deps: HelperDeps, gpu: MachineGpus["gpu"]): QueryGpus {
  const devices = {
    cdi: [{ Driver: "cdi", DeviceIDs: ["nvidia.com/gpu=all"] }],
    nvidia: [{ Driver: "nvidia", Count: -1, Capabilities: [["gpu", "compute", "utility"]] }],
    none: [],
  }[gpu];
  return async (fields, of = "gpu") => {
    const args = [`--query-${of}=${fields}`, "--format=csv,noheader,nounits"];
    return await helperOutput(deps, { script: 'nvidia-smi "$@"', args, devices });
  };
}
