import type { Address } from "../database/json-columns.ts";

export type Endpoint = Address;

/** What one run needs. Its canonical JSON's SHA-256 is the spec label. */
export interface Spec {
  readonly id: string;
  /** +1 for every new container of this environment. */
  readonly generation: number;
  readonly image: string;
  /** JupyterLab's own token, new at each cold start (G95). */
  readonly token: string;
  /** One home per owner and subdomain (G31): a single path segment. */
  readonly home: string;
  /** The home has been used: one that is missing is not made anew. About the start, so no part of the hash (G111). */
  readonly homeIsKept?: true;
  /** Leased GPU ids; empty is CPU only. */
  readonly gpus: readonly string[];
  /** JupyterLab starts with nothing of the home but its files: what a home did to a start does not matter (G106). */
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

export type Observed =
  | { readonly state: "absent" }
  | (Run & { readonly state: "starting" })
  | (Run & { readonly state: "running" | "paused"; readonly endpoint: Endpoint })
  | (Run & { readonly state: "stopped"; readonly exit: { readonly code: number; readonly outOfMemory: boolean } });

/** Probed at start, never configured. */
export interface Capabilities {
  readonly pause: boolean;
  readonly warm: "paused" | "running" | "none";
  readonly diskQuota: boolean;
  readonly gpu: "cdi" | "nvidia" | "plugin" | "none";
  readonly gpus: readonly { readonly id: string; readonly model: string; readonly memoryMb: number }[];
  /** Of the machine, where each run's memory is limited to its own; absent where no run has a limit. */
  readonly memoryMb?: number;
  readonly isolation: "bubblewrap" | "container" | "gvisor" | "kata" | "none";
}

export interface Stats {
  readonly cpuSeconds: number;
  readonly memoryMb: number;
  readonly pids: number;
  /** Null where one run's traffic cannot be told from another's. */
  readonly receivedBytes: number | null;
  readonly sentBytes: number | null;
  /** As it was counted last: at most every five minutes. */
  readonly homeMb: number;
  /** Empty where there is no GPU: the page says N/A (G33). */
  readonly gpus: readonly {
    readonly id: string;
    readonly usePercent: number;
    readonly memoryMb: number;
    readonly watts: number;
  }[];
}

/**
 * One driver object per row of `hosts` (a machine, or a whole cluster).
 *
 * Every verb is addressed by the environment's id, may run twice and may run after a crash of the caller. All but
 * `prepare`, `logs`, `watch` and `gpuFault` end within 10 s or throw `unavailable`.
 */
export interface Driver {
  readonly kind: "process" | "docker" | "kubernetes" | "fake";
  /** As they were when first asked for, or now where `anew` is asked for. */
  capabilities(anew?: boolean): Promise<Capabilities>;
  /** Makes an image startable; at once when it is. Progress is percent of the whole. Throws `no_image` when this host never will. */
  prepare(image: string, progress?: (percent: number) => void): Promise<void>;
  /** `absent` for an unknown id; throws `no_home` for a run of ours on other files than this driver's. `running` as soon as something listens or could soon; readiness is the caller's probe. */
  observe(id: string): Promise<Observed>;
  /** Only what this installation started, on homes of this driver. */
  list(): Promise<readonly { readonly id: string; readonly observed: Observed }[]>;
  /**
   * absent: create and start. paused: resume. stopped: remove, create, start. Older generation found: replace.
   * Same generation and hash, running: no-op. Same generation, other hash: throws `refused`. Newer found: `stale`.
   * Does not wait for readiness. `no_home` where a home that is kept is not there.
   */
  start(spec: Spec, signal?: AbortSignal): Promise<void>;
  /** Freezes every process; memory stays. paused, absent: no-op. Throws `unsupported` where capabilities say so. */
  pause(id: string): Promise<void>;
  /** Ends the run (grace, then kill, also when paused) and removes it; the home stays. absent: no-op. */
  stop(id: string, graceMs: number): Promise<void>;
  /** `stop`, then every object of the environment except the home. absent: no-op. */
  remove(id: string): Promise<void>;
  /** The only verb that deletes files. absent: no-op; throws `refused` while a run uses it. */
  deleteHome(home: string): Promise<void>;
  /** Megabytes (10^6 bytes) of a home's files, whether or not a run uses it. absent: 0. */
  homeMb(home: string): Promise<number>;
  /**
   * A home's files as tar.gz, also while a run changes them: what vanishes is left out, what changes size is cut or
   * filled up to what it was. Links stay links and are never followed; what is no file, folder or link is left out.
   * absent: an empty archive. Holds nothing open once it has ended, was given up by its reader, or the signal aborts.
   */
  archive(home: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  stats(id: string): Promise<Stats>;
  /**
   * Why a run's GPUs do not work, looked at from inside it, in words; undefined when they do, or it has none. Within 50 s.
   * Throws `refused` when nothing runs and `unavailable` when it cannot be told.
   */
  gpuFault(id: string): Promise<string | undefined>;
  /** What is still on GPUs that no run should use, in words by id; empty is clean. */
  gpuLeftovers(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  logs(
    id: string,
    options: { readonly tail: number; readonly follow: boolean; readonly signal: AbortSignal },
  ): AsyncIterable<string>;
  /** Ids that may have changed. A hint only: the truth is `observe` and `list`. */
  watch(signal: AbortSignal): AsyncIterable<string>;
}

export type DriverErrorCode = "unavailable" | "no_image" | "no_gpu" | "no_home" | "refused" | "unsupported" | "stale";

export class DriverError extends Error {
  readonly code: DriverErrorCode;

  constructor(code: DriverErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DriverError";
    this.code = code;
  }
}
