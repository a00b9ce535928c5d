import { expect, test } from "vitest";
import { unitWords } from "../../content/unit-words.ts";
import { curvesOf } from "./day-curves.tsx";
import { lineOf } from "./latest.tsx";

const step = { at: "2026-11-20T14:30:00.000Z", rented: 3, launched: 1, undelivered: 0, queued: 0 };

test("the curves of the day say in words what they show, in slots where there are no GPUs (G307)", () => {
  const day = [{ ...step, rented: 7 }, step];
  expect(curvesOf(day, 8, unitWords.cpu).map(({ title, figure, note }) => [title, figure, note])).toEqual([
    ["Slots leased", "3 of 8", "At most 7, counted each half hour"],
    ["Launches", "2", "All delivered"],
    ["Found nothing free", "0", "Nobody had to wait"],
  ]);
  const bad = curvesOf([{ ...step, undelivered: 2, queued: 4 }], 8, unitWords.gpu);
  expect(bad.map(({ title, note }) => [title, note])).toEqual([
    ["GPUs leased", "At most 3, counted each half hour"],
    ["Launches", "2 more not delivered"],
    ["Found nothing free", "Asked to wait in the queue"],
  ]);
});

test.each([
  [
    { kind: "act", what: "gpu.release", name: "gpu-1", id: "gpu-1", detail: "operator:ada@berth.example", amount: 0 },
    { title: "Released a GPU", note: "gpu-1, by ada@berth.example", to: "/audit?subject=gpu-1" },
  ],
  [
    { kind: "ready", what: "", name: "thesis-run", id: "e1", detail: "", amount: 2600 },
    { title: "thesis-run is ready", note: "after 2.6 s", to: "/environments/e1" },
  ],
  [
    { kind: "ended", what: "expired", name: "thesis-run", id: "e1", detail: "", amount: 0 },
    { title: "thesis-run has ended", note: "Its time was used", to: "/environments/e1" },
  ],
  [
    { kind: "money", what: "capture", name: "", id: "o1", detail: "USD", amount: 480 },
    { title: "$4.80 paid", note: "", to: "/orders/o1" },
  ],
] as const)("what happened last is a line with its page: %o", (event, line) => {
  expect(lineOf({ at: step.at, ...event })).toEqual(line);
});
