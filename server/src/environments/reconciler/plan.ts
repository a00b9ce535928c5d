import type { Desired, Status } from "@berth/contract";
import type { Observed } from "../../drivers/driver.ts";

/** One driver verb, or none: `wait` looks again soon, `none` is settled. */
type Step = "none" | "wait" | "start" | "pause" | "stop" | "remove";

interface Entry {
  readonly step: Step;
  /** What the row says while it is so; see `shownStatus` for what must be true besides. */
  readonly status: Status;
}

const entry = (step: Step, status: Status): Entry => ({ step, status });

/** The whole policy (docs/internals/runtime.md): what is wanted, what is there, what to do about it. */
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

interface Shown {
  readonly desired: Desired;
  readonly status: Status;
}

/**
 * The status to record. `active` is entered only by an answer on the gateway's own path (G28), and whoever is on the
 * way out keeps the status it had until the run is confirmed gone: its effects (banking, freeing GPUs) come once.
 */
export function shownStatus(row: Shown, observed: Observed["state"], answering: boolean): Status {
  const { step, status } = plan[row.desired][observed];
  if (row.desired === "terminated") return status === "terminated" ? status : row.status;
  if (status === "stopped" && step !== "none") return row.status;
  if (status !== "active" || answering) return status;
  // Some hosts say "running" before anything listens. `stopped` again would free the GPUs of this very start.
  return row.desired === "running" && row.status === "stopped" ? "pending" : row.status;
}
