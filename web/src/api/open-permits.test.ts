import { afterEach, expect, test, vi } from "vitest";
import { endPermit, isOpeningPermitted, permitOpening } from "./open-permits.ts";
import { writeStorage } from "./storage.ts";

afterEach(() => {
  vi.useRealTimers();
  writeStorage("opening", null);
});

test("a permit is for one environment, once, and for a minute", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  permitOpening("mine");
  permitOpening("other");
  expect([isOpeningPermitted("mine"), isOpeningPermitted("toString")]).toEqual([true, false]);
  endPermit("mine");
  expect([isOpeningPermitted("mine"), isOpeningPermitted("other")]).toEqual([false, true]);
  vi.setSystemTime(Date.now() + 60_000);
  expect(isOpeningPermitted("other")).toBe(false);
});

test("what is not readable, or lasts longer than any permit, permits nothing", () => {
  for (const stored of ["", "no JSON", "null", '{"mine":"soon"}', '{"mine":9e15}']) {
    writeStorage("opening", stored);
    expect(isOpeningPermitted("mine"), stored).toBe(false);
  }
});
