import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { silentLogger } from "../../logging/create-logger.ts";
import { openLocalHomes } from "./local-homes.ts";

async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "berth-homes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const homes = await openLocalHomes(join(folder, "homes"), silentLogger);
  const add = (home: string, name: string) => writeFile(join(homes.path(home), name), Buffer.alloc(3_000_000));
  return { folder, homes, add };
}

test("the recent size is counted every five minutes, and the exact size on each call", async () => {
  const { homes, add } = await setup();
  await mkdir(homes.path("ada"));
  const empty = await homes.recentMb("ada");
  expect(empty).toBeLessThan(0.1);
  await add("ada", "one");
  vi.advanceTimersByTime(299_000);
  expect(await homes.recentMb("ada")).toBe(empty);
  vi.advanceTimersByTime(2_000);
  expect(await homes.recentMb("ada"), "what is known, while it is counted anew").toBe(empty);
  await expect.poll(() => homes.recentMb("ada")).toBeCloseTo(3, 1);
  await add("ada", "two");
  expect(await homes.recentMb("ada")).toBeCloseTo(3, 1);
  expect(await homes.sizeMb("ada")).toBeCloseTo(6, 1);
  expect(await homes.recentMb("ada")).toBeCloseTo(6, 1);
  await homes.remove("ada");
  expect(await homes.recentMb("ada")).toBe(0);
});

test("a slow count delays nobody and goes on to its end; a failed one is not retried at once", async () => {
  const { folder, homes, add } = await setup();
  for (const home of ["big", "odd"]) await mkdir(homes.path(home));
  await add("big", "one");
  const [gate, log] = [join(folder, "gate"), join(folder, "log")];
  writeFileSync(
    join(folder, "du"),
    `#!/bin/sh\necho "$2" >>${log}\ncase "$2" in *odd) exit 2;; esac\nwhile [ -d ${folder} ] && [ ! -e ${gate} ]; do sleep 0.05; done\nexec /usr/bin/du "$@"\n`,
  );
  chmodSync(join(folder, "du"), 0o755);
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(homes.recentMb("big")).rejects.toThrow("the files of big are still being counted");
  writeFileSync(gate, "");
  await expect.poll(() => homes.recentMb("big").catch(String)).toBeCloseTo(3, 1);
  rmSync(gate);
  vi.advanceTimersByTime(301_000);
  for (let round = 0; round < 2; round++) expect(await homes.recentMb("big")).toBeCloseTo(3, 1);
  for (let round = 0; round < 2; round++)
    await expect(homes.recentMb("odd")).rejects.toMatchObject({ code: "unavailable" });
  const counted = readFileSync(log, "utf8").trim().split("\n");
  expect(counted.map((path) => path.slice(-3))).toEqual(["big", "big", "odd"]);
  writeFileSync(gate, "");
});
