import type { Container } from "@berth/contract";
import { expect, test } from "vitest";
import { buttonsOf, environmentsOf, isFirstLaunch, isSettled } from "./environment.ts";

const container = {
  type: "jupyter",
  status: "pending",
  subdomain: "",
  gpu_count: 1,
  duration_hours: 1,
  created_at: "2026-11-20T10:00:00Z",
  expires_at: null,
  banked_seconds: 0,
  stage: null,
  stage_percent: null,
  waits_for: null,
  ended_reason: null,
  files_until: null,
  can_pause: true,
  moving_percent: null,
} as const;

test("without a subdomain the name is Container- and eight characters of the id", () => {
  expect(environmentsOf({ "41d07be5a9c2": container })[0]?.name).toBe("Container-41d07be5");
});

test("running counts as active, and an unrecognized status is unknown", () => {
  const strange = { ...container, status: "melted" as "active" };
  const [a, b] = environmentsOf({ a: { ...container, status: "running" as "active" }, b: strange });
  expect([a?.status, b?.status]).toEqual(["active", "unknown"]);
});

test("without a GPU count it has one (spec 3.2)", () => {
  const { gpu_count: _, ...unknown } = container;
  expect(environmentsOf({ a: unknown as unknown as Container })[0]?.gpu_count).toBe(1);
});

test("only a launch that was never ready can be cancelled", () => {
  const [first, again] = environmentsOf({ a: container, b: { ...container, banked_seconds: 60 } });
  expect(first && isFirstLaunch(first)).toBe(true);
  expect(again && isFirstLaunch(again)).toBe(false);
});

test("the actions come from the contract", () => {
  const [one] = environmentsOf({ a: { ...container, status: "active" } });
  expect(one && buttonsOf(one)).toEqual(["stop", "pause"]);
});

test("an action has settled once its target status or any other change is shown", () => {
  expect(isSettled("pause", "active", "active")).toBe(false);
  expect(isSettled("pause", "active", "paused")).toBe(true);
  expect(isSettled("restart", "stopped", "pending")).toBe(true);
  expect(isSettled("stop", "stopped", "stopped")).toBe(true);
});
