/** What is rented, in words: of one rental, and of all; slots where no host has a GPU (G307). */
export const unitWords = {
  gpu: { one: "GPU", all: "GPUs" },
  cpu: { one: "slot", all: "slots" },
  both: { one: "GPU", all: "GPUs and slots" },
} as const;
export type UnitWords = (typeof unitWords)[keyof typeof unitWords];
