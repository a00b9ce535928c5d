/** The desired state, set by owner, operator and clock. */
export const desiredStates = ["running", "paused", "stopped", "terminated"] as const;
export type Desired = (typeof desiredStates)[number];

/** The actual state, set by the reconciler. `active` is what the specification calls `running` (spec 4.2). */
export const statuses = ["pending", "active", "paused", "stopped", "terminated", "unknown"] as const;
export type Status = (typeof statuses)[number];

export const actions = ["pause", "stop", "restart", "start"] as const;
export type Action = (typeof actions)[number];

/** Allowed actions by status, with the desired state that each sets. Repeating is always allowed (G25, G26). */
export const actionsByStatus: Readonly<Record<Status, Partial<Record<Action, Desired>>>> = {
  pending: {},
  active: { pause: "paused", stop: "stopped", restart: "running", start: "running" },
  paused: { pause: "paused", restart: "running", start: "running", stop: "stopped" },
  stopped: { restart: "running", start: "running", stop: "stopped" },
  terminated: {},
  unknown: {},
};

/** Buttons of a row, left to right (spec 4.2). Terminate and cancel are separate calls. */
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

/** Only environments that have started can be extended (G100). */
export const mayExtend: Readonly<Record<Status, boolean>> = {
  pending: false,
  active: true,
  paused: true,
  stopped: true,
  terminated: false,
  unknown: false,
};

/** Stages of a launch, in order; each is recorded once per generation (docs/internals/runtime.md). */
export const launchStages = ["ordered", "paid", "placed", "image", "created", "started", "answering", "ready"] as const;
export type LaunchStage = (typeof launchStages)[number];

/**
 * What a start waits for: room on a machine, a machine that is being added, its image, its storage, or a machine that does not
 * do its part (G198). After a launch that was not delivered: why.
 */
export const waitReasons = ["room", "machine", "image", "volume", "host"] as const;
export type WaitReason = (typeof waitReasons)[number];

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
 * Reasons of a stop that is not the owner's: idle, JupyterLab silent for ten minutes while its container runs (G106), a
 * missing home (G111), a suspended account (G119).
 */
export const stopReasons = ["idle", "silent", "no_home", "suspended"] as const;
export type StopReason = (typeof stopReasons)[number];

/** Free time of a start until JupyterLab responds, from the second start on: per start and per day (G105). */
export const freeStartSeconds = 60;
export const freeStartSecondsPerDay = 600;

/** Limit of cancellations per day after the container has run (G105). */
export const cancelsPerDay = 3;

/** Banked time expires this long after the last session (G113). */
export const bankedDays = 365;

/** Longest continuous run; a longer rental rolls over into the next session (G22). */
export const maxSessionHours = 168;
