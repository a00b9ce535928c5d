import type { WaitReason } from "@berth/contract";
import type { Address } from "../database/json-columns.ts";

export type Endpoint = Address;

/** Everything about one run of an environment. `specHash` of it is part of what a driver observes. */
export interface Spec {
  readonly id: string;
  /** 1, and one more for every new container of this environment. */
  readonly generation: number;
  readonly image: string;
  /** JupyterLab's own token, new at each cold start (G95). */
  readonly token: string;
  /** One home per owner and subdomain (G31): a single path segment. */
  readonly home: string;
  /** The home has been used, so it is not made when it is missing (G111). Not part of the hash. */
  readonly homeIsKept?: true;
  /** Leased GPU ids; empty is CPU only. */
  readonly gpus: readonly string[];
  /** JupyterLab starts with nothing of the home but its files, so that no file of the home can break the start (G106). */
  readonly withoutSettings?: true;
  readonly limits: {
    readonly cpus: number;
    readonly memoryMb: number;
    readonly shmMb: number;
    readonly pids: number;
    readonly diskGb: number;
  };
}

interface Run {
  readonly generation: number;
  readonly specHash: string;
  readonly gpus: readonly string[];
  readonly createdAt: Date;
  readonly startedAt?: Date;
}

/** What keeps a start waiting (G198). */
export interface Waiting {
  readonly for: WaitReason;
  /** In the words of the machine, for the operator. */
  readonly message: string;
}

/** Why a run ended that neither its owner nor its program has ended. */
export interface Eviction {
  /** `disk`: it wrote more beside its files than it may; `machine`: for a reason of the machine's own. */
  readonly cause: "disk" | "machine";
  readonly message: string;
}

export type Observed =
  | { readonly state: "absent" }
  | (Run & { readonly state: "starting"; readonly waiting?: Waiting })
  | (Run & { readonly state: "running" | "paused"; readonly endpoint: Endpoint })
  | (Run & {
      readonly state: "stopped";
      readonly exit: {
        readonly code: number;
        readonly outOfMemory: boolean;
        /** Its machine is off, since this last sign of life (null: not known), and another can start it. */
        readonly lostSince?: Date | null;
        readonly evicted?: Eviction;
      };
    });

/** Probed at the start, never configured. */
export interface Capabilities {
  readonly pause: boolean;
  readonly warm: "paused" | "running" | "none";
  readonly diskQuota: boolean;
  readonly gpu: "cdi" | "nvidia" | "plugin" | "none";
  readonly gpus: readonly {
    readonly id: string;
    readonly model: string;
    readonly memoryMb: number;
    /** The machine of a cluster that has it; a run gets GPUs of one. Absent on a host that is one machine. */
    readonly node?: string;
  }[];
  /** Machines of a cluster that are there; absent on a host that is one machine. */
  readonly nodes?: readonly string[];
  /** Those of them that take no new runs now, and why, with the command that changes it where there is one. */
  readonly closedNodes?: readonly { readonly node: string; readonly reason: string }[];
  /** Memory of the machine; absent where runs have no limit of memory. */
  readonly memoryMb?: number;
  /** How many GPUs or CPU slots its runs may have in all; absent: as many as there are. */
  readonly room?: number;
  /** How many homes can still be made; absent: any number. */
  readonly newHomes?: number;
  /** Which cluster its nodes are of. */
  readonly cluster?: string;
  /** Runs that were started on an expected node of a cluster, and the real one that they got. */
  readonly placed?: readonly { readonly id: string; readonly expected: string; readonly node: string }[];
  readonly isolation: "bubblewrap" | "container" | "gvisor" | "kata" | "none";
}

export interface Stats {
  readonly cpuSeconds: number;
  readonly memoryMb: number;
  readonly pids: number;
  /** Null where the driver cannot separate the traffic of runs. */
  readonly receivedBytes: number | null;
  readonly sentBytes: number | null;
  /** The last count, at most five minutes old. */
  readonly homeMb: number;
  /** Empty where there is no GPU: the page says N/A (G33). */
  readonly gpus: readonly {
    readonly id: string;
    readonly usePercent: number;
    readonly memoryMb: number;
    readonly watts: number;
  }[];
}

/** What a home has, counted one by one. */
export interface HomeCount {
  /** Files, folders and links. */
  readonly entries: number;
  /** Of its files. */
  readonly bytes: number;
}

interface RestoredHome extends Pick<Spec, "home" | "limits"> {
  /** The machine of a cluster that will run on these files. */
  readonly node?: string | undefined;
}

/** A process inside a run. */
export interface RunProcess {
  readonly pid: number;
  /** Program and arguments, joined by blanks. The owner's code can write anything here. */
  readonly command: string;
  /** The path of its executable, which the kernel names (/proc/PID/exe) and a process cannot write; absent where it is not known. */
  readonly program?: string | undefined;
  /** It runs in a terminal and is not the shell that the terminal began with; absent where that is not known. */
  readonly inTerminal?: boolean | undefined;
}

/**
 * Runs environments on one row of `hosts`: a machine, or a whole cluster.
 *
 * Operations take the environment's id, may run twice and may run after a crash of the caller. All but `prepare`, `logs`,
 * `watch`, `archive`, `countHome`, `restore` and `gpuFault` end within 10 s or throw `unavailable`. An id or home that is absent is no error unless it says so.
 */
export interface Driver {
  readonly kind: "process" | "docker" | "kubernetes" | "fake";
  /**
   * Names the machine or engine and the folder of homes, in words for the operator: drivers with the same answer see the same
   * runs and files, others do not. It is the same for as long as runs live.
   */
  machineId(): Promise<string>;
  /** Cached from the first call on; `refresh` probes again. */
  capabilities(refresh?: boolean): Promise<Capabilities>;
  /**
   * Pulls or prepares an image; returns at once when it is ready. `progress` gets percent. `asked`: an operator wants it, also
   * where it is not prepared by itself (G101). Throws `no_image` when this host cannot have it.
   */
  prepare(image: string, progress?: (percent: number) => void, options?: { readonly asked?: boolean }): Promise<void>;
  /**
   * `absent` for an unknown id. `running` as soon as the process runs; readiness is the caller's probe. Throws `no_home` for a
   * run of this installation on other files than this driver's, and `lost` while the run's machine gives no sign, or it is
   * known to be off and no other can have the files: the run may go on, and what it does is unknown.
   */
  observe(id: string): Promise<Observed>;
  /** Runs of this installation on homes of this driver. */
  list(): Promise<readonly { readonly id: string; readonly observed: Observed }[]>;
  /**
   * absent: create and start. paused: resume. stopped: remove, create, start. Older generation: replace.
   * Same generation and hash, running: no-op. Same generation, other hash: throws `refused`. Newer generation: `stale`.
   * Does not wait for readiness. Throws `no_home` when a home that was used is missing, and `lost` when no machine that gives
   * a sign can have it.
   */
  start(spec: Spec, signal?: AbortSignal): Promise<void>;
  /** Freezes every process; memory stays. paused, absent: no-op. Throws `unsupported` where `Capabilities.pause` is false. */
  pause(id: string): Promise<void>;
  /** Ends the run (SIGTERM, SIGKILL after the grace, also when paused) and removes it; the home stays. absent: no-op. */
  stop(id: string, graceMs: number): Promise<void>;
  /** `stop`, then every object of the environment except the home. absent: no-op. */
  remove(id: string): Promise<void>;
  /** The only operation that deletes files. absent: no-op. Throws `refused` while a run uses the home. */
  deleteHome(home: string): Promise<void>;
  /** Megabytes (10^6 bytes) of a home's files, whether or not a run uses it. absent: 0. */
  homeMb(home: string): Promise<number>;
  /**
   * A home's files as tar.gz, also while a run changes them: a file that vanishes is left out, one that changes its size is
   * cut or filled up to the former size. Links stay links and are never followed; devices, pipes and sockets are left out.
   * absent: an empty archive. Releases everything when it ends, when its reader stops, or when the signal aborts.
   */
  archive(home: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The only node that can have a home, after it was used; undefined: any. Absent where a host is one machine. */
  homeNode?(home: string): Promise<string | undefined>;
  /** What `archive` would pack; undefined for an absent home. Throws `refused` when something in it cannot be read. */
  countHome(home: string, signal: AbortSignal): Promise<HomeCount | undefined>;
  /**
   * Makes a home of what `archive` packed on any host, for runs on its `node` where one is named. Throws `refused` when there are files already. After any other error
   * a part may be there: `deleteHome`.
   */
  restore(home: RestoredHome, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  stats(id: string): Promise<Stats>;
  /** What runs inside, seen from outside. Throws `refused` when nothing runs. */
  processes(id: string): Promise<readonly RunProcess[]>;
  /**
   * Why a run's GPUs do not work, undefined when they do or it has none: evidence that its owner cannot make, because it leads
   * to a refund (G313). Within 50 s. Throws `refused` when nothing runs, `unavailable` when the check itself failed.
   */
  gpuFault(id: string): Promise<string | undefined>;
  /** Leftover processes and memory on GPUs that no run should use: a reason by GPU id, empty when clean. */
  gpuLeftovers(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  logs(
    id: string,
    options: { readonly tail: number; readonly follow: boolean; readonly signal: AbortSignal },
  ): AsyncIterable<string>;
  /** Ids that may have changed. A hint: `observe` and `list` are authoritative. */
  watch(signal: AbortSignal): AsyncIterable<string>;
}

export type DriverErrorCode =
  | "unavailable"
  | "lost"
  | "no_image"
  | "no_gpu"
  | "no_home"
  | "refused"
  | "unsupported"
  | "stale";

type DriverErrorOptions = ErrorOptions & Partial<Pick<DriverError, "since" | "waitsFor">>;

export class DriverError extends Error {
  readonly code: DriverErrorCode;

  /** With `lost`: the last sign of life of the run's machine. */
  readonly since: Date | undefined;
  /** What a start that failed for it waits for, where the code does not say it. */
  readonly waitsFor: WaitReason | undefined;

  constructor(code: DriverErrorCode, message: string, options: DriverErrorOptions = {}) {
    super(message, options);
    this.name = "DriverError";
    this.code = code;
    this.since = options.since;
    this.waitsFor = options.waitsFor;
  }
}
