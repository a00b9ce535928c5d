import type { Overview } from "@berth/contract/console/overview";

/** "GPU", "slots": what is rented here; `begins` a sentence (G307). */
export function unitNoun(unit: Overview["gpus"]["unit"], count: number, begins = false): string {
  const ending = count === 1 ? "" : "s";
  const slot = `${begins ? "S" : "s"}lot${ending}`;
  return { gpu: `GPU${ending}`, cpu: slot, both: `GPU${ending} and slot${ending}` }[unit];
}
