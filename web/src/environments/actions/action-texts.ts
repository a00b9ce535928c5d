import { type Action, planOf } from "@berth/contract";
import { duration } from "../../format.ts";
import type { Environment } from "../lifecycle/environment.ts";

interface ActionText {
  readonly label: string;
  readonly busy: string;
  readonly done: string;
}

/** The texts of the four actions (spec 4.2 and 8.4). */
export const actionTexts: Readonly<Record<Action, ActionText>> = {
  pause: { label: "Pause", busy: "Pausing...", done: "paused" },
  stop: { label: "Stop", busy: "Stopping...", done: "stopped and cleaned up" },
  restart: { label: "Restart", busy: "Restarting...", done: "restarted" },
  start: { label: "Start", busy: "Starting...", done: "started" },
};

export function doneText(action: Action, name: string): string {
  return `Environment ${name} ${actionTexts[action].done}`;
}

/** `message` is the server's; empty without one (spec 8.4). */
export function failedText(action: string, message: string): string {
  return message.trim() === ""
    ? `Failed to ${action} container - Unknown error`
    : `Failed to ${action} environment: ${message}`;
}

/** Why Pause is disabled: the machine cannot freeze a run. */
export const cannotPause = "This machine cannot pause. Stop it instead: its files are kept.";

/** The specification offers Stop there (spec 4.2). */
const alreadyStopped = "It is stopped already, and its clock stands. Stopping again changes nothing.";

/** What an action does that its label does not say; undefined where it says it. `now` in ms since the epoch. */
export function titleOf(environment: Environment, action: Action, now: number): string | undefined {
  if (action === "stop") return environment.status === "stopped" ? alreadyStopped : stopHint(environment, now);
  return action === "pause" && !environment.can_pause ? cannotPause : undefined;
}

/**
 * What Stop takes and what it leaves (G25): the clock of a month goes on (G24), other time stays the owner's. `now` in ms
 * since the epoch.
 */
export function stopHint(
  { duration_hours, expires_at }: Pick<Environment, "duration_hours" | "expires_at">,
  now: number,
): string {
  if (planOf(duration_hours) === "monthly") return "Stop: memory goes, files stay, and the month goes on.";
  const seconds = expires_at === null ? 0 : (Date.parse(expires_at) - now) / 1000;
  const left = seconds > 0 ? duration(seconds) : "the time that is left";
  return `Stop: memory goes, files stay, and ${left} stays yours.`;
}
