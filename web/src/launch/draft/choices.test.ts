import type { Capacity } from "@berth/contract";
import { expect, test } from "vitest";
import { countChoices, countReason, machineLine, typeChoices } from "./choices.ts";

const now = new Date(2026, 10, 20, 12, 0).getTime();
const later = new Date(2026, 10, 20, 16, 40).toISOString();
const gpu = [{ model: "RTX 4070", memoryGb: 12 }];

function setup(part: Partial<Capacity> = {}): Capacity {
  return {
    status: "success",
    kind: "gpu",
    total: 6,
    free: 3,
    counts: [
      { gpu_count: 1, free: true, next_free_at: null },
      { gpu_count: 2, free: true, next_free_at: null },
      { gpu_count: 4, free: false, next_free_at: later },
      { gpu_count: 6, free: false, next_free_at: null },
      { gpu_count: 8, free: false, next_free_at: null },
    ],
    types: [
      { type: "jupyter", state: "preparing", percent: 41.7, message: "" },
      { type: "pytorch", state: "unavailable", percent: null, message: "Not prepared on this machine" },
      { type: "tensorflow", state: "ready", percent: null, message: "" },
    ],
    launch: null,
    ...part,
  };
}

test("types: one being prepared can be chosen and shows its progress, an unavailable one shows the reason", () => {
  expect(typeChoices(setup())).toEqual([
    { type: "jupyter", available: true, note: "Preparing on this machine: 42%. A launch waits for it." },
    { type: "pytorch", available: false, note: "Not prepared on this machine" },
    { type: "tensorflow", available: true, note: "" },
  ]);
  expect(typeChoices(undefined).every(({ available }) => available)).toBe(true);
});

test("counts that are not free are disabled, each with its reason", () => {
  expect(countChoices(setup(), now).map(({ gpus, free, note }) => [gpus, free, note])).toEqual([
    [1, true, ""],
    [2, true, ""],
    [4, false, "Free at 4:40 PM"],
    [6, false, "In use"],
    [8, false, "This machine has 6"],
  ]);
  expect(countChoices(undefined, now).every(({ free }) => free)).toBe(true);
});

test("the sentence names the counts, the free GPUs and the next free time", () => {
  expect(countReason(setup(), now)).toBe(
    "4 and 6 GPUs are not free: 3 of 6 are in use on this machine. Free again: 4 at 4:40 PM. 8 GPUs are more than this machine has.",
  );
  const sixLater = { gpu_count: 6, free: false, next_free_at: new Date(2026, 10, 20, 17, 0).toISOString() };
  const counts = setup().counts.map((count) => (count.gpu_count === 6 ? sixLater : count));
  expect(countReason(setup({ counts }), now)).toContain("Free again: 4 at 4:40 PM and 6 at 5:00 PM.");
  const same = counts.map((count) => (count.gpu_count === 6 ? { ...count, next_free_at: later } : count));
  expect(countReason(setup({ counts: same }), now)).toContain("Free again at 4:40 PM.");
  expect(countReason(setup({ counts: [] }), now)).toBeUndefined();
  const one = { total: 1, free: 0, counts: [{ gpu_count: 1, free: false, next_free_at: null }] };
  expect(countReason(setup(one), now)).toBe("1 GPU is not free: 1 of 1 is in use on this machine.");
  const none = setup({ kind: "cpu", total: 0, free: 0, counts: one.counts });
  expect(countReason(none, now)).toBe("No machine takes new environments at the moment. Look again later.");
  expect(countChoices(none, now)[0]?.note).toBe("Not now");
});

test("a time on another day has its date", () => {
  const counts = [{ gpu_count: 4, free: false, next_free_at: new Date(2026, 10, 22, 9, 5).toISOString() }];
  expect(countChoices(setup({ counts }), now)[2]?.note).toBe("Free on Nov 22, 9:05 AM");
});

test("a machine without a GPU says so", () => {
  expect(machineLine(setup({ kind: "cpu", total: 8, free: 8 }), gpu)).toBe(
    "CPU only (no GPU on this machine). 8 of 8 slots are free now.",
  );
  expect(machineLine(setup(), gpu)).toBe("RTX 4070, 12GB VRAM each. 3 of 6 are free now.");
  expect(machineLine(undefined, gpu)).toBe("RTX 4070, 12GB VRAM each.");
});
