import type { Spec } from "../../driver.ts";
import { specHash } from "../../spec-hash.ts";

/** On every container and network of ours: two installations on one engine never touch each other's. */
export const label = {
  install: "berth.install",
  environment: "berth.environment",
  generation: "berth.generation",
  spec: "berth.spec",
  gpus: "berth.gpus",
  home: "berth.home",
} as const;

export const containerName = (id: string) => `env-${id}`;
/** JupyterLab's port inside every image. */
export const labPort = "8888/tcp";
/** User id of every home and every process in a run; the host may have another name for it, or none. */
export const runUser = 1000;
export const homeInside = "/home/berth";
const megabyte = 1024 * 1024;

export interface ContainerContext {
  readonly install: string;
  /** The image's reference on this host. */
  readonly image: string;
  /** The home's folder on the engine's machine; it must exist. */
  readonly home: string;
  readonly network: string;
  /** Address of the engine's machine for the published port; undefined: the container's own address is used. */
  readonly publishAt: string | undefined;
  /** Cores of the engine's machine: the engine refuses a container that asks for more. */
  readonly cpus: number;
  readonly gpu: "cdi" | "nvidia" | "none";
  /** Limit of open files of one process; undefined: the engine's own limit. */
  readonly openFiles: number | undefined;
}

/** Context of a container that is no environment, such as a check of an image. */
export const ephemeral = { publishAt: undefined, cpus: 1, gpu: "none", openFiles: undefined } as const;

/** The body of the engine's create call, with all limits and rights of a run (docs/internals/runtime.md). */
export function containerBody(spec: Spec, context: ContainerContext) {
  const published = context.publishAt !== undefined && {
    PortBindings: { [labPort]: [{ HostIp: context.publishAt, HostPort: "" }] },
  };
  return {
    Image: context.image,
    User: `${runUser}:${runUser}`,
    // The only secret inside is the run's own. Without "void" a default GPU runtime adds every GPU.
    Env: [
      `JUPYTER_TOKEN=${spec.token}`,
      ...(gpuDevices(spec.gpus).length > 0 ? [] : ["NVIDIA_VISIBLE_DEVICES=void"]),
      ...(spec.withoutSettings ? ["WITHOUT_SETTINGS=1"] : []),
    ],
    ExposedPorts: { [labPort]: {} },
    Labels: {
      [label.install]: context.install,
      [label.environment]: spec.id,
      [label.generation]: String(spec.generation),
      [label.spec]: specHash(spec),
      [label.gpus]: spec.gpus.join(","),
      [label.home]: spec.home,
    },
    HostConfig: {
      ...published,
      ...isolation,
      ...limitsOf(spec.limits, context.cpus),
      ...devicesRequested(spec, context.gpu),
      ...openFilesOf(context.openFiles),
      NetworkMode: context.network,
      Mounts: [{ Type: "bind", Source: context.home, Target: homeInside, BindOptions: { Propagation: "rprivate" } }],
    },
  };
}

/** The same for every run. */
const isolation = {
  Privileged: false,
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  ReadonlyRootfs: true,
  IpcMode: "private",
  CgroupnsMode: "private",
  Init: true,
  // When memory runs out, the kernel ends a run before the server.
  OomScoreAdj: 500,
  RestartPolicy: { Name: "no" },
  LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
};

function limitsOf({ cpus, memoryMb, shmMb, pids }: Spec["limits"], hostCpus: number) {
  return {
    NanoCpus: Math.min(cpus, hostCpus) * 1e9,
    Memory: memoryMb * megabyte,
    // Equal to Memory: no swap.
    MemorySwap: memoryMb * megabyte,
    ShmSize: shmMb * megabyte,
    PidsLimit: pids,
    // Counts as memory of the run. /tmp is not noexec, because `pip` builds and runs programs there.
    Tmpfs: {
      "/tmp": `rw,exec,nosuid,nodev,mode=1777,size=${Math.floor(memoryMb / 2)}m`,
      "/run": `rw,noexec,nosuid,nodev,mode=755,uid=${runUser},gid=${runUser},size=16m`,
    },
  };
}

function openFilesOf(count: number | undefined) {
  return count === undefined ? {} : { Ulimits: [{ Name: "nofile", Soft: count, Hard: count }] };
}

/** The GPUs among leased ids, which are UUIDs of GPUs or names of CPU slots. */
export function gpuDevices(leased: readonly string[]): readonly string[] {
  return leased.filter((id) => /^(GPU|MIG)-/.test(id));
}

function devicesRequested(spec: Spec, gpu: ContainerContext["gpu"]) {
  const ids = gpuDevices(spec.gpus);
  if (ids.length === 0) return {};
  const request =
    gpu === "cdi"
      ? { Driver: "cdi", DeviceIDs: ids.map((id) => `nvidia.com/gpu=${id}`) }
      : { Driver: "nvidia", DeviceIDs: ids, Capabilities: [["gpu", "compute", "utility"]] };
  return { DeviceRequests: [request] };
}
