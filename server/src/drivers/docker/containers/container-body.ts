import type { Spec } from "../../driver.ts";
import { specHash } from "../../spec-hash.ts";

/** On every container and network of ours; two installations on one engine never touch each other's. */
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
/** The owner of every home and every process in a run, whatever the host calls that number. */
export const runUser = 1000;
export const homeInside = "/home/berth";
const megabyte = 1024 * 1024;

export interface ContainerContext {
  readonly install: string;
  /** The image's reference on this host. */
  readonly image: string;
  /** The home's folder on the engine's machine; it must be there. */
  readonly home: string;
  readonly network: string;
  /** The address of the engine's machine that the port is published on; undefined: it is reached on the container's own. */
  readonly publishAt: string | undefined;
  /** Cores of the engine's machine: it refuses a run that asks for more. */
  readonly cpus: number;
  readonly gpu: "cdi" | "nvidia" | "none";
  /** Open files of one process; undefined: as many as the engine itself may have. */
  readonly openFiles: number | undefined;
}

/** Of a run that is no environment, such as a look at an image: on its network alone, with little. */
export const ephemeral = { publishAt: undefined, cpus: 1, gpu: "none", openFiles: undefined } as const;

/** The body of the engine's create call: all that a run may and may not (docs/internals/runtime.md). */
export function containerBody(spec: Spec, place: ContainerContext) {
  const published = place.publishAt !== undefined && {
    PortBindings: { [labPort]: [{ HostIp: place.publishAt, HostPort: "" }] },
  };
  return {
    Image: place.image,
    User: `${runUser}:${runUser}`,
    // The only secret inside is the run's own. "void" keeps a GPU runtime that is the default from adding all.
    Env: [
      `JUPYTER_TOKEN=${spec.token}`,
      ...(gpuDevices(spec.gpus).length > 0 ? [] : ["NVIDIA_VISIBLE_DEVICES=void"]),
      ...(spec.withoutSettings ? ["WITHOUT_SETTINGS=1"] : []),
    ],
    ExposedPorts: { [labPort]: {} },
    Labels: {
      [label.install]: place.install,
      [label.environment]: spec.id,
      [label.generation]: String(spec.generation),
      [label.spec]: specHash(spec),
      [label.gpus]: spec.gpus.join(","),
      [label.home]: spec.home,
    },
    HostConfig: {
      ...published,
      ...wall,
      ...limitsOf(spec.limits, place.cpus),
      ...devicesRequested(spec, place.gpu),
      ...openFilesOf(place.openFiles),
      NetworkMode: place.network,
      Mounts: [{ Type: "bind", Source: place.home, Target: homeInside, BindOptions: { Propagation: "rprivate" } }],
    },
  };
}

/** The same for every run. */
const wall = {
  Privileged: false,
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  ReadonlyRootfs: true,
  IpcMode: "private",
  CgroupnsMode: "private",
  Init: true,
  // A machine without memory ends a run before the server that all runs need.
  OomScoreAdj: 500,
  RestartPolicy: { Name: "no" },
  LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
};

function limitsOf({ cpus, memoryMb, shmMb, pids }: Spec["limits"], coresHere: number) {
  return {
    NanoCpus: Math.min(cpus, coresHere) * 1e9,
    Memory: memoryMb * megabyte,
    // Equal: no swap on top.
    MemorySwap: memoryMb * megabyte,
    ShmSize: shmMb * megabyte,
    PidsLimit: pids,
    // Counted as the run's own memory. `pip` builds and runs programs in /tmp, so that one is not noexec.
    Tmpfs: {
      "/tmp": `rw,exec,nosuid,nodev,mode=1777,size=${Math.floor(memoryMb / 2)}m`,
      "/run": `rw,noexec,nosuid,nodev,mode=755,uid=${runUser},gid=${runUser},size=16m`,
    },
  };
}

function openFilesOf(count: number | undefined) {
  return count === undefined ? {} : { Ulimits: [{ Name: "nofile", Soft: count, Hard: count }] };
}

/** What is leased is a GPU's UUID, or the name of a CPU slot, which is no device. */
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
