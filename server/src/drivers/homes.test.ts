import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openHomes } from "./homes.ts";

test("what is asked every few seconds is counted every five minutes, and whenever somebody wants it exactly", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-homes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const homes = await openHomes(folder, () => {});
  await mkdir(homes.path("ada"));
  const add = (name: string) => writeFile(join(homes.path("ada"), name), Buffer.alloc(3_000_000));
  const empty = await homes.recentMb("ada");
  expect(empty).toBeLessThan(0.1);
  await add("one");
  vi.advanceTimersByTime(299_000);
  expect(await homes.recentMb("ada")).toBe(empty);
  vi.advanceTimersByTime(2_000);
  expect(await homes.recentMb("ada")).toBeCloseTo(3, 1);
  await add("two");
  expect(await homes.recentMb("ada")).toBeCloseTo(3, 1);
  expect(await homes.sizeMb("ada")).toBeCloseTo(6, 1);
  expect(await homes.recentMb("ada")).toBeCloseTo(6, 1);
  await homes.remove("ada");
  expect(await homes.recentMb("ada")).toBe(0);
});
