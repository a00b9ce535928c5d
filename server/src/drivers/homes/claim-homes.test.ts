import { mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../logging/create-logger.ts";
import { claimHomes, ownerFile } from "./claim-homes.ts";
import { openLocalHomes } from "./local-homes.ts";

function setup() {
  const folder = mkdtempSync(join(tmpdir(), "berth-claim-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const homes = join(folder, "homes");
  const claim = (install: string, ...used: string[]) => claimHomes(homes, install, async () => used);
  return { homes, claim, owner: () => readFile(join(homes, ownerFile), "utf8") };
}

const limits = { cpus: 1, memoryMb: 1, shmMb: 1, pids: 1, diskGb: 1 };

test("G111 a new folder is claimed, and belongs to that installation from then on", async () => {
  const { claim, owner } = setup();
  await claim("one");
  expect(await owner()).toBe("one\n");
  await claim("one", "a-home");
  await expect(claim("two")).rejects.toMatchObject({
    code: "refused",
    message: expect.stringMatching(/has the files of another installation \(one\), .* that of two: check DATA_DIR/),
  });
});

test("G111 an older folder is claimed when it has some of the expected homes, and refused when it has none", async () => {
  const { homes, claim, owner } = setup();
  await expect(claim("one", "a", "b")).rejects.toThrow(
    `The files of 2 environments are not in ${homes}: check DATA_DIR, and that the disk is mounted. Nothing was started, so that no environment gets an empty folder. Where they are lost for good: mkdir -p '${homes}' && echo one > '${homes}/.installation', and start again`,
  );
  await mkdir(join(homes, "unknown"), { recursive: true });
  await expect(claim("one", "a", "b")).rejects.toMatchObject({ code: "refused" });
  await mkdir(join(homes, "b"));
  await claim("one", "a", "b");
  expect(await owner()).toBe("one\n");
});

test("G111 an empty file that a power cut left of the first claim is written again", async () => {
  const { homes, claim, owner } = setup();
  await claim("one");
  await writeFile(join(homes, ownerFile), "");
  await claim("one");
  expect(await owner()).toBe("one\n");
});

test("G111 while the disk with all homes is missing none is made, not even a new one", async () => {
  const { homes, claim } = setup();
  await claim("one");
  const opened = await openLocalHomes(homes, silentLogger);
  await opened.make({ home: "ada", limits });
  await opened.make({ home: "ada", limits, homeIsKept: true });
  await expect(opened.make({ home: "eve", limits, homeIsKept: true })).rejects.toMatchObject({ code: "no_home" });
  await rm(homes, { recursive: true });
  await mkdir(homes);
  for (const home of ["ada", "new"])
    await expect(opened.make({ home, limits })).rejects.toMatchObject({ code: "no_home" });
});
