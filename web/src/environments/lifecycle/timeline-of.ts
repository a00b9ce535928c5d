import { type LaunchStage, launchStages, type WaitReason } from "@berth/contract";
import { capitalised } from "../../content/number-word.ts";
import { type UnitWords, unitWords } from "../../content/unit-words.ts";
import type { TimelineStage } from "../../ui/display/launch-timeline.tsx";

interface ShownStage {
  readonly name: string;
  readonly doing: string;
  /** The stamp that ends the line. Earlier stamps without a line belong to it. */
  readonly until: LaunchStage;
}

/** The lines of the timeline. Stamps that users cannot act on have no line (docs/internals/runtime.md). */
const shownStages = (unit: UnitWords): readonly ShownStage[] => [
  { name: "Payment confirmed", doing: "Starting: confirming payment", until: "paid" },
  { name: `${capitalised(unit.all)} reserved`, doing: `Starting: reserving ${unit.all}`, until: "placed" },
  { name: "Image ready", doing: "Starting: pulling image", until: "image" },
  { name: "Container started", doing: "Starting: container", until: "started" },
  { name: "JupyterLab started", doing: "Starting: JupyterLab", until: "answering" },
  { name: "Answers at its address", doing: "Starting: waiting for an answer", until: "ready" },
];

/** Instead of the first line, where a code pays (G332). */
const coveredStage = { name: "Code accepted", doing: "Starting: taking the hours of your code" };

/** What a start waits for, and why it failed when it came through too late (G198). */
export const waitTexts: Readonly<Record<WaitReason, { readonly doing: string; readonly failed: string }>> = {
  room: { doing: "Waiting for room on a machine", failed: "no machine had room" },
  machine: { doing: "Adding a machine", failed: "no machine could be added" },
  image: { doing: "Waiting for its image", failed: "its image could not be fetched" },
  volume: { doing: "Waiting for its storage", failed: "its storage was not ready" },
  host: { doing: "Waiting for its machine to answer", failed: "its machine did not answer" },
};

interface Start {
  readonly stage: LaunchStage | null;
  readonly percent: number | null;
  readonly waitsFor: WaitReason | null;
}

/** The current stage of a pending row (G29): what it waits for, or what is done, with percent if known. */
export function stageText({ stage, percent, waitsFor }: Start, unit: UnitWords): string {
  if (waitsFor !== null) return waitTexts[waitsFor].doing;
  if (stage === null) return "Starting";
  const order = launchStages.indexOf(stage);
  const shown = shownStages(unit).find(({ until }) => launchStages.indexOf(until) >= order);
  const text = shown?.doing ?? "Starting";
  return percent === null ? text : `${text} ${Math.round(percent)}%`;
}

/** The line of the timeline that a stamp ends: "JupyterLab started". */
export function stageName(stage: LaunchStage, unit: UnitWords): string {
  return shownStages(unit).find(({ until }) => until === stage)?.name ?? stage;
}

export interface Stamp {
  readonly stage: LaunchStage;
  readonly at: string;
}

/**
 * The timeline's lines in seconds since the payment, or since the first stamp of a restart. A skipped line gets the time
 * of the next reached one, so that no finished line looks open. `isCovered`: a code pays for it (G332). `unit`: what it
 * rents (G307).
 */
export function timelineOf(
  stamps: readonly Stamp[],
  percent: number | null = null,
  waitsFor: WaitReason | null = null,
  isCovered = false,
  unit: UnitWords = unitWords.gpu,
): TimelineStage[] {
  const at = new Map(stamps.map((stamp) => [stamp.stage, Date.parse(stamp.at)]));
  const zero = at.get("paid") ?? Math.min(...at.values());
  let later: number | undefined;
  const waits = waitsFor === null ? undefined : { doing: waitTexts[waitsFor].doing, failed: "Too late" };
  return shownStages(unit)
    .map((shown) => (isCovered && shown.until === "paid" ? { ...shown, ...coveredStage } : shown))
    .map(({ name, doing, until }) => ({
      name,
      doing: until === "image" && percent !== null ? `${doing} ${Math.round(percent)}%` : doing,
      stamp: at.get(until),
    }))
    .reverse()
    .map(({ name, doing, stamp }) => {
      later = stamp ?? later;
      return later === undefined ? { name, doing, ...waits } : { name, doing, at: Math.max(0, (later - zero) / 1000) };
    })
    .reverse();
}
