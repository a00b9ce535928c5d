import { expect, test } from "vitest";
import { learnTime, serverNow } from "./server-clock.ts";

const second = 1_000;
const day = 86_400 * second;

test("follows a server clock that differs by a day, and the browser's clock if both agree", () => {
  const now = Date.now();
  const ahead = () => Math.round((serverNow() - Date.now()) / second);
  learnTime(new Date(now + day).toUTCString(), now);
  expect(ahead()).toBeGreaterThanOrEqual(86_399);
  learnTime(new Date(now + day + 3 * second).toUTCString(), now);
  learnTime(null, now);
  learnTime("yesterday", now);
  expect(ahead()).toBeLessThanOrEqual(86_400);
  learnTime(new Date(now - 2 * second).toUTCString(), now);
  expect(ahead()).toBe(0);
  learnTime(new Date(now - day).toUTCString(), now);
  expect(ahead()).toBeLessThanOrEqual(-86_400);
  learnTime(new Date(now).toUTCString(), now);
});
