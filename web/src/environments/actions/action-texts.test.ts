import { expect, test } from "vitest";
import { doneText, failedText } from "./action-texts.ts";

test("texts of actions", () => {
  expect(doneText("pause", "lab")).toBe("Environment lab paused");
  expect(doneText("stop", "lab")).toBe("Environment lab stopped and cleaned up");
  expect(doneText("restart", "lab")).toBe("Environment lab restarted");
  expect(doneText("start", "lab")).toBe("Environment lab started");
  expect(failedText("pause", "")).toBe("Failed to pause container - Unknown error");
  expect(failedText("pause", "No GPU is free")).toBe("Failed to pause environment: No GPU is free");
});
