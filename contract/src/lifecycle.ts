/** What the owner wants; only people and the clock change it. */
export const desiredStates = ["running", "paused", "stopped", "terminated"] as const;
export type Desired = (typeof desiredStates)[number];

/** What is true; only the reconciler changes it. `running` on the wire of others means `active` (spec 4.2). */
export const statuses = ["pending", "active", "paused", "stopped", "terminated", "unknown"] as const;
export type Status = (typeof statuses)[number];

export const actions = ["pause", "stop", "restart", "start"] as const;
export type Action = (typeof actions)[number];

/** What may be asked for in each status, and the desired state each request sets. Repeating is always allowed (G25, G26). */
export const actionsByStatus: Readonly<Record<Status, Partial<Record<Action, Desired>>>> = {
  pending: {},
  active: { pause: "paused", stop: "stopped", restart: "running", start: "running" },
  paused: { pause: "paused", restart: "running", start: "running", stop: "stopped" },
  stopped: { restart: "running", start: "running", stop: "stopped" },
  terminated: {},
  unknown: {},
};

/** The buttons of a row, left to right (spec 4.2). Terminate and cancel are calls of their own. */
export const buttonsByStatus: Readonly<Record<Status, readonly Action[]>> = {
  pending: [],
  active: ["stop", "pause"],
  paused: ["stop", "restart"],
  stopped: ["stop", "restart"],
  terminated: [],
  unknown: [],
};

export const mayTerminate: Readonly<Record<Status, boolean>> = {
  pending: false,
  active: true,
  paused: true,
  stopped: true,
  terminated: true,
  unknown: false,
};

/** More hours are for what has run and can run on (G100). */
export const mayExtend: Readonly<Record<Status, boolean>> = {
  pending: false,
  active: true,
  paused: true,
  stopped: true,
  terminated: false,
  unknown: false,
};

/** One launch, in order; each is stamped once per generation (docs/internals/runtime.md). */
export const launchStages = ["ordered", "paid", "placed", "image", "created", "started", "answering", "ready"] as const;
export type LaunchStage = (typeof launchStages)[number];

export const endedReasons = [
  "expired",
  "terminated",
  "cancelled",
  "not_delivered",
  "silent",
  "hardware",
  "operator",
] as const;
export type EndedReason = (typeof endedReasons)[number];

/**
 * Why an environment stopped that its owner did not stop: nothing was done in it, its container ran for ten minutes while
 * JupyterLab did not answer (G106), or its files are not there (G111).
 */
export const stopReasons = ["idle", "silent", "no_home"] as const;
export type StopReason = (typeof stopReasons)[number];

/** From the second start on, this much of a start is free until JupyterLab answers, and this much of a day's (G105). */
export const freeStartSeconds = 60;
export const freeStartSecondsPerDay = 600;

/** Launches that may be cancelled within a day after their containers have run (G105). */
export const cancelsPerDay = 3;

/** Banked time ends so long after the last session (G113). */
export const bankedDays = 365;

/** Longest continuous run; a longer rental rolls over into the next session (G22). */
export const maxSessionHours = 168;
