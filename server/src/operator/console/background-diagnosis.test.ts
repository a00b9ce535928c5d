import { expect, onTestFinished, test, vi } from "vitest";
import { recordLog } from "../../logging/testing/record-log.ts";
import type { Diagnosis } from "../doctor/diagnose.ts";
import { backgroundDiagnosis } from "./background-diagnosis.ts";

test("a finding is looked at again after half a minute, so that it leaves the screen by itself; else five minutes pass", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const finding = { kind: "disk_full", what: "Disks", remedy: "make room" } as const;
  const found = { notes: [], findings: [{ ...finding, rows: ["/data"] }] };
  const run = vi.fn(async (): Promise<Diagnosis> => found);
  const diagnosis = backgroundDiagnosis(run, recordLog().log);
  const runsAfter = async (seconds: number) => {
    vi.advanceTimersByTime(seconds * 1000);
    diagnosis.latest();
    await diagnosis.settled();
    return run.mock.calls.length;
  };
  expect(await runsAfter(0)).toBe(1);
  expect(await runsAfter(29)).toBe(1);
  run.mockResolvedValueOnce({ notes: [], findings: [{ ...finding, rows: [] }] });
  expect(await runsAfter(2)).toBe(2);
  expect(diagnosis.latest().diagnosis.findings[0]?.rows).toEqual([]);
  expect(await runsAfter(299)).toBe(2);
  expect(await runsAfter(2)).toBe(3);
});
