import { expect, test } from "vitest";
import { doneText, failedText, stopHint } from "./action-texts.ts";

test("texts of actions", () => {
  expect(doneText("pause", "lab")).toBe("Environment lab paused");
  expect(doneText("stop", "lab")).toBe("Environment lab stopped and cleaned up");
  expect(doneText("restart", "lab")).toBe("Environment lab restarted");
  expect(doneText("start", "lab")).toBe("Environment lab started");
  expect(failedText("pause", "")).toBe("Failed to pause container - Unknown error");
  expect(failedText("pause", "No GPU is free")).toBe("Failed to pause environment: No GPU is free");
});

test("Stop says what goes, what stays, and whose the time is", () => {
  const now = Date.parse("2026-11-20T10:00:00.000Z");
  const hint = (duration_hours: number, expires_at: string | null) => stopHint({ duration_hours, expires_at }, now);
  expect(hint(6, "2026-11-20T11:47:00.000Z")).toBe("Stop: memory goes, files stay, and 1h 47m stays yours.");
  expect(hint(720, "2026-11-28T11:47:00.000Z")).toBe("Stop: memory goes, files stay, and the month goes on.");
  expect(hint(6, null)).toBe("Stop: memory goes, files stay, and the time that is left stays yours.");
});
