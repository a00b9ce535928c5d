import type { Container } from "@berth/contract";
import { expect, test } from "vitest";
import { dashboardFigures, newest, sessionLength, summaryOf, utilization } from "./dashboard-figures.ts";
import { testModeSentence } from "./test-card-notice.tsx";

function container(over: Partial<Container>): Container {
  return {
    type: "pytorch",
    status: "active",
    subdomain: "resnet-lab",
    gpu_count: 2,
    duration_hours: 6,
    created_at: "2026-11-20T12:00:00Z",
    expires_at: "2026-11-20T18:00:00Z",
    banked_seconds: 0,
    stage: null,
    stage_percent: null,
    waits_for: null,
    ended_reason: null,
    files_until: null,
    can_pause: true,
    moving_percent: null,
    ...over,
  };
}

const of = (containers: Readonly<Record<string, Container>>) => dashboardFigures(newest(containers));

test("the newest come first, and keys with an underscore are skipped", () => {
  const found = newest({
    _count: container({}),
    old: container({ created_at: "2026-11-18T12:00:00Z" }),
    young: container({ created_at: "2026-11-19T12:00:00Z" }),
  });
  expect(found.map(({ id }) => id)).toEqual(["young", "old"]);
});

test("figures count running environments, and hours of delivered ones", () => {
  const figures = of({
    a: container({}),
    b: container({ gpu_count: 4, duration_hours: 24 }),
    c: container({ status: "pending" }),
    d: container({ status: "stopped", duration_hours: 1 }),
    e: container({ status: "terminated", ended_reason: "cancelled" }),
    f: container({ status: "terminated", ended_reason: "expired", duration_hours: 12 }),
  });
  expect(figures).toEqual({ total: 6, active: 2, starting: 1, usageHours: 43, gpus: 6 });
});

test("running is active (spec 4.1)", () => {
  const figures = of({ a: container({ status: "running" as "active", gpu_count: 4 }), b: container({}) });
  expect(figures).toMatchObject({ active: 2, gpus: 6 });
  expect(summaryOf(figures)).toBe("Two environments are running.");
});

test("an environment without a GPU count has one", () => {
  const { gpu_count: _, ...unknown } = container({});
  expect(of({ a: unknown as Container }).gpus).toBe(1);
});

test.each([
  [0, 0, 0, "Nothing is running. Your first environment takes about 30 seconds."],
  [3, 0, 0, "Nothing is running."],
  [3, 1, 0, "One environment is running."],
  [3, 2, 1, "Two environments are running, one is starting."],
  [3, 0, 1, "One environment is starting."],
  [30, 12, 2, "12 environments are running, two are starting."],
])("of %i with %i active and %i starting", (total, active, starting, text) => {
  expect(summaryOf({ total, active, starting, usageHours: 0, gpus: 0 })).toBe(text);
});

test("without measurements a figure is N/A", () => {
  expect(sessionLength(null)).toBe("N/A");
  expect(sessionLength(20)).toBe("1 min");
  expect(sessionLength(33_480)).toBe("9.3 h");
  expect(utilization(null)).toBe("N/A");
  expect(utilization(60.6)).toBe("61%");
});

test("the beta's sentence disappears after the beta, and the embedded provider is the installation's own (G34, G337)", () => {
  const endsAt = "2026-12-18T12:00:00Z";
  const config = (mode: "embedded" | "test") => ({ beta: { endsAt }, payments: { mode } });
  const before = Date.parse("2026-12-18T11:59:00Z");
  expect(testModeSentence(config("test"), before)).toBe(
    "One-month beta until Dec 18, 2026: payments run in the payment provider's test mode.",
  );
  expect(testModeSentence(config("test"), Date.parse(endsAt))).toBe(
    "Payments run in the payment provider's test mode.",
  );
  expect(testModeSentence(config("embedded"), Date.parse(endsAt))).toBe(
    "Payments run in this installation's own payment provider's test mode.",
  );
});

test("an unreadable date is the oldest", () => {
  const listed = newest({
    a: container({ created_at: "soon" }),
    b: container({ created_at: "2026-11-20T10:00:00Z" }),
    c: container({ created_at: "2026-11-21T10:00:00Z" }),
  });
  expect(listed.map(({ id }) => id)).toEqual(["c", "b", "a"]);
});

test("sessions and percents round half up, and never to zero", () => {
  expect([sessionLength(0), sessionLength(89), sessionLength(90)]).toEqual(["1 min", "1 min", "2 min"]);
  expect([sessionLength(3_599), sessionLength(3_600), sessionLength(5_399)]).toEqual(["60 min", "1.0 h", "1.5 h"]);
  expect([utilization(0), utilization(0.5), utilization(99.6)]).toEqual(["0%", "1%", "100%"]);
});

test("an environment with an unreadable date stays in the newest", () => {
  const found = newest({
    broken: container({ created_at: "soon" }),
    young: container({ created_at: "2028-02-29T12:00:00Z" }),
    old: container({ created_at: "2028-02-28T12:00:00Z" }),
  });
  expect(found.map(({ id }) => id).filter((id) => id !== "broken")).toEqual(["young", "old"]);
  expect(found).toHaveLength(3);
});

test("summed hours are rounded to one decimal", () => {
  const figures = of({
    a: container({ duration_hours: 0.1 }),
    b: container({ duration_hours: 0.2 }),
  });
  expect(figures.usageHours.toFixed(1)).toBe("0.3");
});
