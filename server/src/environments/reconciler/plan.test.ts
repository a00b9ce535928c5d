import { desiredStates } from "@berth/contract";
import { expect, test } from "vitest";
import { plan, shownStatus, workingWaitMs } from "./plan.ts";

const observedStates = ["absent", "starting", "running", "paused", "stopped"] as const;

test("the whole table, desired by observed", () => {
  const table = desiredStates.map((desired) =>
    observedStates.map((observed) => `${plan[desired][observed].step} / ${plan[desired][observed].status}`),
  );
  expect(table).toEqual([
    ["start / pending", "wait / pending", "none / active", "start / paused", "start / pending"],
    ["none / stopped", "wait / pending", "pause / active", "none / paused", "stop / stopped"],
    ["none / stopped", "stop / pending", "stop / active", "stop / paused", "stop / stopped"],
    ["none / terminated", "remove / pending", "remove / active", "remove / paused", "remove / stopped"],
  ]);
});

test("only readiness makes a row active", () => {
  expect(shownStatus({ desired: "running", status: "pending" }, "running", false)).toBe("pending");
  expect(shownStatus({ desired: "running", status: "paused" }, "running", false)).toBe("paused");
  expect(shownStatus({ desired: "running", status: "pending" }, "running", true)).toBe("active");
});

test("a start from stopped is pending until it is ready: it is not stopped once more", () => {
  expect(shownStatus({ desired: "running", status: "stopped" }, "absent", false)).toBe("pending");
  expect(shownStatus({ desired: "running", status: "stopped" }, "running", false)).toBe("pending");
  expect(shownStatus({ desired: "paused", status: "stopped" }, "running", false)).toBe("stopped");
});

test("an ending environment keeps its status until its run is gone, and never becomes active", () => {
  for (const observed of ["starting", "running", "paused", "stopped"] as const)
    expect(shownStatus({ desired: "terminated", status: "pending" }, observed, true)).toBe("pending");
  expect(shownStatus({ desired: "terminated", status: "active" }, "absent", false)).toBe("terminated");
});

test("stopped is recorded when the container is gone, not before", () => {
  expect(shownStatus({ desired: "stopped", status: "active" }, "stopped", false)).toBe("active");
  expect(shownStatus({ desired: "stopped", status: "active" }, "absent", false)).toBe("stopped");
});

test("a start is looked at less often the longer it takes", () => {
  const waitAfter = (ageMs: number) =>
    workingWaitMs({
      state: "starting",
      generation: 1,
      specHash: "",
      gpus: [],
      createdAt: new Date(Date.now() - ageMs),
    });
  expect(waitAfter(2_000)).toBe(100);
  expect(waitAfter(20_000)).toBeGreaterThanOrEqual(500);
  expect(waitAfter(20_000)).toBeLessThan(1_000);
  expect(waitAfter(600_000)).toBe(1_000);
});
