import { expect, test } from "vitest";
import { dayStart } from "./day-start.ts";

test("a typed day begins at midnight in the viewer's zone, and anything else is no day", () => {
  const at = new Date(dayStart("2026-03-01") ?? 0);
  expect([at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes()]).toEqual([2026, 2, 1, 0, 0]);
  for (const wrong of ["", "yesterday", "2026-13-01", "2026-03-01T00:00", "20260301"])
    expect(dayStart(wrong), wrong).toBeUndefined();
});
