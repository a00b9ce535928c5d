import { launchStages, waitReasons } from "@berth/contract";
import { expect, test } from "vitest";
import { type UnitWords, unitWords } from "../../content/unit-words.ts";
import { stageText, timelineOf } from "./timeline-of.ts";

const text = (start: Partial<Parameters<typeof stageText>[0]>, unit: UnitWords = unitWords.gpu) =>
  stageText({ stage: null, percent: null, waitsFor: null, ...start }, unit);

test("every stage has a text", () => {
  expect(launchStages.map((stage) => text({ stage }))).toEqual([
    "Starting: confirming payment",
    "Starting: confirming payment",
    "Starting: reserving GPUs",
    "Starting: pulling image",
    "Starting: container",
    "Starting: container",
    "Starting: JupyterLab",
    "Starting: waiting for an answer",
  ]);
  expect(text({ stage: "image", percent: 39.6 })).toBe("Starting: pulling image 40%");
  expect(text({})).toBe("Starting");
});

test("a start that waits says for what, in the line that is open", () => {
  expect(waitReasons.map((reason) => text({ stage: "started", waitsFor: reason }))).toEqual([
    "Waiting for room on a machine",
    "Adding a machine",
    "Waiting for its image",
    "Waiting for its storage",
    "Waiting for its machine to answer",
  ]);
  const [paid, ...open] = timelineOf([{ stage: "paid", at: "2026-11-20T10:01:00.000Z" }], null, "machine");
  expect(paid).toMatchObject({ doing: "Starting: confirming payment", at: 0 });
  expect(open[0]).toMatchObject({ doing: "Adding a machine", failed: "Too late" });
});

test("the timeline counts from the payment and leaves unreached lines open", () => {
  const shown = timelineOf([
    { stage: "ordered", at: "2026-11-20T10:00:00.000Z" },
    { stage: "paid", at: "2026-11-20T10:01:00.000Z" },
    { stage: "placed", at: "2026-11-20T10:01:00.200Z" },
    { stage: "image", at: "2026-11-20T10:01:01.100Z" },
  ]);
  expect(shown.map(({ at }) => at)).toEqual([0, 0.2, 1.1, undefined, undefined, undefined]);
});

test("a skipped line closes with the next one", () => {
  const shown = timelineOf([
    { stage: "paid", at: "2026-11-20T10:01:00.000Z" },
    { stage: "answering", at: "2026-11-20T10:01:04.000Z" },
  ]);
  expect(shown.map(({ at }) => at)).toEqual([0, 4, 4, 4, 4, undefined]);
});

test("without stamps every line is open", () => {
  expect(timelineOf([]).every(({ at }) => at === undefined)).toBe(true);
});

test("stamps out of order or repeated still count forward", () => {
  const shown = timelineOf([
    { stage: "placed", at: "2026-03-08T06:59:59.000Z" },
    { stage: "paid", at: "2026-03-08T07:00:00.000Z" },
  ]);
  expect(shown.map(({ at }) => at).slice(0, 2)).toEqual([0, 0]);
});

test("where a code pays, no line says that a payment was confirmed (G332, G335)", () => {
  const [first, second] = timelineOf([{ stage: "paid", at: "2026-11-20T10:01:00.000Z" }], null, null, true);
  expect([first?.name, first?.at, second?.name]).toEqual(["Code accepted", 0, "GPUs reserved"]);
  expect(timelineOf([])[0]?.name).toBe("Payment confirmed");
});

test("a machine without GPUs reserves slots (G307)", () => {
  const [, second] = timelineOf([], null, null, false, unitWords.cpu);
  expect([second?.name, second?.doing]).toEqual(["Slots reserved", "Starting: reserving slots"]);
  expect(text({ stage: "placed" }, unitWords.cpu)).toBe("Starting: reserving slots");
});
