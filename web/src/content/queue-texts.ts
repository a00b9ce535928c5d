import { plural } from "@berth/contract";
import type { UnitWords } from "./unit-words.ts";

export const queueTexts = {
  wait: (gpus: number, unit: UnitWords) => `Wait for ${plural(gpus, unit.one)}`,
  offer: "You get a place in line, and a notice and a mail when it is your turn.",
  waiting: (gpus: number, unit: UnitWords, position: number) =>
    `You wait for ${plural(gpus, unit.one)}: place ${position} in line`,
  expected: (at: string) => `Expected ${at}, by what is known of those who have them now.`,
  unknown: "When they come free is not known yet.",
  tells: "A notice and a mail tell you when they are held for you.",
  held: (gpus: number, unit: UnitWords, at: string) =>
    `${plural(gpus, unit.one)} ${gpus === 1 ? "is" : "are"} held for you until ${at}`,
  heldText: "Launch before then. After that the next in line gets them.",
  lapsed: (gpus: number, unit: UnitWords) => `Your turn for ${plural(gpus, unit.one)} is over`,
  lapsedText: "Nothing was launched in ten minutes, so it went to the next in line.",
  launch: "Launch",
  leave: "Leave the Line",
  giveUp: "Give Up",
  again: "Wait Again",
  hide: "Hide",
  failed: "No answer from the server. Your place is as it was; try again.",
} as const;
