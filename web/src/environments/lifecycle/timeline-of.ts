import { type LaunchStage, launchStages } from "@berth/contract";
import type { TimelineStage } from "../../ui/display/launch-timeline.tsx";

interface ShownStage {
  readonly name: string;
  readonly doing: string;
  /** The stamp that ends the line. Earlier stamps without a line belong to it. */
  readonly until: LaunchStage;
}

/**
 * The lines of the timeline. Stamps that users cannot act on have no line (docs/internals/runtime.md).
 */
const shownStages: readonly ShownStage[] = [
  { name: "Payment confirmed", doing: "Starting: confirming payment", until: "paid" },
  { name: "GPUs reserved", doing: "Starting: reserving GPUs", until: "placed" },
  { name: "Image ready", doing: "Starting: pulling image", until: "image" },
  { name: "Container started", doing: "Starting: container", until: "started" },
  { name: "JupyterLab started", doing: "Starting: JupyterLab", until: "answering" },
  { name: "Answers at its address", doing: "Starting: waiting for an answer", until: "ready" },
];

/** The current stage of a pending row, with percent if known (G29). */
export function stageText(stage: LaunchStage | null, percent: number | null): string {
  if (stage === null) return "Starting";
  const order = launchStages.indexOf(stage);
  const shown = shownStages.find(({ until }) => launchStages.indexOf(until) >= order);
  const text = shown?.doing ?? "Starting";
  return percent === null ? text : `${text} ${Math.round(percent)}%`;
}

/** The line of the timeline that a stamp ends: "JupyterLab started". */
export function stageName(stage: LaunchStage): string {
  return shownStages.find(({ until }) => until === stage)?.name ?? stage;
}

export interface Stamp {
  readonly stage: LaunchStage;
  readonly at: string;
}

/**
 * The timeline's lines in seconds since the payment, or since the first stamp of a restart. A skipped line gets the time
 * of the next reached one, so that no finished line looks open.
 */
export function timelineOf(stamps: readonly Stamp[], percent: number | null = null): TimelineStage[] {
  const at = new Map(stamps.map((stamp) => [stamp.stage, Date.parse(stamp.at)]));
  const zero = at.get("paid") ?? Math.min(...at.values());
  let later: number | undefined;
  return shownStages
    .map(({ name, doing, until }) => ({
      name,
      doing: until === "image" && percent !== null ? `${doing} ${Math.round(percent)}%` : doing,
      stamp: at.get(until),
    }))
    .reverse()
    .map(({ name, doing, stamp }) => {
      later = stamp ?? later;
      return later === undefined ? { name, doing } : { name, doing, at: Math.max(0, (later - zero) / 1000) };
    })
    .reverse();
}
