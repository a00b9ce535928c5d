import { type Desired, type LaunchStage, planOf, type Status } from "@berth/contract";
import { backoffMs } from "../../database/work-queue.ts";
import type { Endpoint, Eviction, Observed, Waiting } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";

/** One driver verb, or none: `wait` checks again soon, `none` is settled. */
type Step = "none" | "wait" | "start" | "pause" | "stop" | "remove";

interface Entry {
  readonly step: Step;
  /** The status of the row in this cell; `shownStatus` says what must be true besides. */
  readonly status: Status;
}

const entry = (step: Step, status: Status): Entry => ({ step, status });

/** The whole policy: the step and the status for each desired and observed state. */
export const plan: Readonly<Record<Desired, Readonly<Record<Observed["state"], Entry>>>> = {
  running: {
    absent: entry("start", "pending"),
    starting: entry("wait", "pending"),
    running: entry("none", "active"),
    paused: entry("start", "paused"),
    stopped: entry("start", "pending"),
  },
  paused: {
    absent: entry("none", "stopped"),
    starting: entry("wait", "pending"),
    running: entry("pause", "active"),
    paused: entry("none", "paused"),
    stopped: entry("stop", "stopped"),
  },
  stopped: {
    absent: entry("none", "stopped"),
    starting: entry("stop", "pending"),
    running: entry("stop", "active"),
    paused: entry("stop", "paused"),
    stopped: entry("stop", "stopped"),
  },
  terminated: {
    absent: entry("none", "terminated"),
    starting: entry("remove", "pending"),
    running: entry("remove", "active"),
    paused: entry("remove", "paused"),
    stopped: entry("remove", "stopped"),
  },
};

/** The step for what the driver reports: `resume` starts a frozen run, `restart` follows a run that ended by itself. */
export function nextStep(row: Environment, observed: Observed): Step | "resume" | "restart" {
  if (endedByItself(row, observed)) return "restart";
  const state = runState(row, observed);
  const { step } = plan[row.desired][state];
  return step === "start" && state === "paused" ? "resume" : step;
}

/** Whether the run of this row ended without a request. */
function endedByItself(row: Environment, observed: Observed): boolean {
  if (row.desired !== "running" || row.run_token === null) return false;
  if (observed.state === "absent") return row.stage !== "created";
  return observed.state === "stopped" && observed.generation === row.generation;
}

/**
 * The state of this row's own run. A run of another generation, or one whose token is unknown, cannot be the wanted one
 * and counts as stopped.
 */
function runState(row: Environment, observed: Observed): Observed["state"] {
  if (row.desired !== "running" || observed.state === "absent") return observed.state;
  return observed.generation === row.generation && row.run_token !== null ? observed.state : "stopped";
}

/** What one pass writes to the row. */
export interface StatusUpdate {
  readonly status: Status;
  readonly endpoint: Endpoint | null;
  /** The stage in progress; null once JupyterLab is ready, or when nothing is starting. */
  readonly stage: LaunchStage | null;
  readonly stagePercent: number | null;
  /** Stages reached, with the driver's own time where it has one. */
  readonly reached: readonly { readonly stage: LaunchStage; readonly at: Date | undefined }[];
  /** The run is over: its token is void and the next one is a new generation. */
  readonly runEnded: boolean;
  /** Nothing is left to do until something changes. */
  readonly settled: boolean;
  /** The GPUs of the run become free. */
  readonly freesGpus: boolean;
  readonly attempts: number;
  readonly waitMs: number;
  /** Whether the machine keeps it from running (G106); undefined where this pass did not show it. */
  readonly fault?: boolean;
  /** When the container of the run began. */
  readonly startedAt?: Date;
  /** What the start waits for, which is the machine's fault and not the owner's (G198). */
  readonly waiting?: Waiting;
  /** Why a run that its owner used was ended; they are told. */
  readonly ended?: Ended;
}

export type Ended = "memory" | "error" | Eviction["cause"];

const settledMs = 20_000;
const workingMs = 100;
/** Of a run that is not ready for long. */
const slowMs = 1000;
/** A start is looked at this often in the time that it has taken so far: many at once leave the machine to the runs. */
const looksPerAge = 40;
const imageMs = 300;

/** What an observation means for the row. `ready`: the result of the readiness probe. */
export function statusUpdate(row: Environment, observed: Observed, ready: boolean): StatusUpdate {
  const state = runState(row, observed);
  const starting = row.desired === "running" && row.stage !== null;
  const reached = starting ? reachedStages(state, observed, ready) : [];
  const stage = starting ? nextStage(row, reached) : null;
  const settled = plan[row.desired][state].step === "none" && (row.desired !== "running" || ready);
  const status = shownStatus(row, state, ready);
  const isKnown = ready || row.status !== "unknown" || row.lost_since === null;
  // The record of a lost run may still say that it runs.
  const startedAt = state === "stopped" || observed.state === "absent" || !isKnown ? undefined : observed.startedAt;
  return {
    status,
    endpoint: observed.state === "running" || observed.state === "paused" ? observed.endpoint : null,
    stage,
    stagePercent: null,
    reached: stage === row.stage ? [] : reached,
    runEnded: false,
    settled,
    freesGpus: freesGpus(row, status),
    // A start that is not ready yet keeps its count of failures: a run that always dies is tried ever more slowly.
    attempts: settled ? 0 : row.attempts,
    waitMs: settled ? settledMs : workingWaitMs(observed),
    ...(startedAt && { fault: false, startedAt }),
    ...(starting && waitOf(observed)),
  };
}

/** The machine's fault and not the owner's. */
function waitOf(observed: Observed): Partial<StatusUpdate> {
  const waiting = observed.state === "starting" ? observed.waiting : undefined;
  return waiting ? { fault: true, waiting, waitMs: slowMs } : {};
}

/** After a run that ended by itself: start again with the time left, at once the first time, then with back-off. */
export function restartUpdate(row: Environment, observed: Observed): StatusUpdate {
  const ended = endedBy(row, observed);
  const fault = ended === "machine" && { fault: true };
  const update = { ...startUpdate(row), runEnded: true, attempts: row.attempts + 1, ...(ended && { ended }), ...fault };
  const waitMs = row.attempts === 0 ? 0 : backoffMs(row.attempts);
  // What ended with its machine did not end by itself: the machine is at fault until the next run has begun.
  if (row.lost_since !== null && row.status === "unknown") return { ...update, attempts: 0, waitMs: 0 };
  if (observed.state !== "stopped") return { ...update, waitMs };
  if (!observed.startedAt) return { ...update, waitMs, ...refusedBy(observed.exit.evicted) };
  const { createdAt, startedAt } = observed;
  const reached = [
    { stage: "created" as const, at: createdAt },
    { stage: "started" as const, at: startedAt },
  ];
  return { ...update, waitMs, startedAt, ...(!fault && { fault: false }), ...(row.stage === "created" && { reached }) };
}

/** A machine may refuse what it was chosen for, such as a GPU that fell sick meanwhile. */
function refusedBy(evicted: Eviction | undefined): Pick<StatusUpdate, "waiting" | "fault"> {
  return evicted ? { fault: true, waiting: { for: "room", message: evicted.message } } : {};
}

/** What ended a run that its owner used; undefined: its own program, without an error, as when its owner shuts it down. An absent one was removed by its machine, as by a drain. */
function endedBy({ status, lost_since }: Environment, observed: Observed): Ended | undefined {
  if (status !== "active" || lost_since !== null) return undefined;
  if (observed.state === "absent") return "machine";
  if (observed.state !== "stopped" || observed.exit.lostSince !== undefined) return undefined;
  const { outOfMemory, evicted, code } = observed.exit;
  if (outOfMemory) return "memory";
  return evicted?.cause ?? (code === 0 ? undefined : "error");
}

/** A start that waits for its image, of which `percent` is there, or else until the warm runs on its GPUs are removed. */
export function waitUpdate(row: Environment, image?: { readonly percent: number | null }): StatusUpdate {
  const update = { ...startUpdate(row), fault: true };
  if (!image) return { ...update, waitMs: workingMs };
  const reached = row.stage === "image" ? [] : [{ stage: "placed" as const, at: undefined }];
  return { ...update, stage: "image", stagePercent: image.percent, reached, waitMs: imageMs };
}

/** Nothing of the next start is done yet; it is due at once. */
export function startUpdate(row: Environment): StatusUpdate {
  return {
    status: "pending",
    endpoint: null,
    stage: "placed",
    stagePercent: null,
    reached: [],
    runEnded: row.run_token !== null,
    settled: false,
    freesGpus: false,
    attempts: 0,
    waitMs: 0,
  };
}

/**
 * Only readiness makes a row `active` (G28). A row on its way out keeps its status until the run is confirmed gone: the
 * hooks of that change (banking, freeing GPUs) run once.
 */
export function shownStatus(
  row: Pick<Environment, "desired" | "status">,
  state: Observed["state"],
  ready: boolean,
): Status {
  const { step, status } = plan[row.desired][state];
  if (row.desired === "terminated") return status === "terminated" ? status : row.status;
  if (status === "stopped" && step !== "none") return row.status;
  if (status !== "active" || ready) return status;
  // Some hosts report `running` before anything listens. `stopped` again would free the GPUs of this very start.
  return row.desired === "running" && row.status === "stopped" ? "pending" : row.status;
}

/** A row that is settled as stopped has freed its GPUs before. */
function freesGpus(row: Environment, status: Status): boolean {
  if (status === "terminated") return true;
  const isSettled = row.status === status && row.stage === null && row.run_token === null;
  return status === "stopped" && !isSettled && planOf(row.duration_hours) === "hourly";
}

/** The stages that an observation proves. */
function reachedStages(state: Observed["state"], observed: Observed, ready: boolean): StatusUpdate["reached"] {
  if (observed.state === "absent" || state === "stopped") return [];
  const created = { stage: "created" as const, at: observed.createdAt };
  if (state === "starting" && !observed.startedAt) return [created];
  const started = { stage: "started" as const, at: observed.startedAt };
  if (!ready) return [created, started];
  return [created, started, { stage: "answering", at: undefined }, { stage: "ready", at: undefined }];
}

function nextStage(row: Environment, reached: StatusUpdate["reached"]): LaunchStage | null {
  const after = { created: "started", started: "answering", ready: null } as const;
  const last = reached.at(-1)?.stage;
  if (last === "created" || last === "started" || last === "ready") return after[last];
  return row.stage as LaunchStage | null;
}

/** Milliseconds until the next look at a run that is on its way. */
export function workingWaitMs(observed: Observed): number {
  if (observed.state === "absent") return workingMs;
  const ageMs = Date.now() - observed.createdAt.getTime();
  return Math.min(slowMs, Math.max(workingMs, Math.ceil(ageMs / looksPerAge)));
}
