import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { lstat, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../../logging/create-logger.ts";
import { unitLimits } from "../../unit-limits.ts";
import { runUser } from "../containers/container-body.ts";
import { localMachine } from "./engine-machine.ts";

test("G380 files that an environment wrote as a process are its container's", async ({ skip }) => {
  skip(process.getuid?.() !== 0, "only root gives files away");
  const folder = mkdtempSync(join(tmpdir(), "berth-machine-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { homes } = await localMachine({ homeRoot: join(folder, "homes"), log: silentLogger });
  const home = homes.path("ada");
  await mkdir(join(home, ".local", "share"), { recursive: true });
  await writeFile(join(home, "Untitled.ipynb"), "{}");
  const outside = join(folder, "outside");
  await writeFile(outside, "");
  await symlink(outside, join(home, "link"));
  execFileSync("chown", ["-R", "-P", "-h", "59071:59071", home]);
  await homes.make({ home: "ada", homeIsKept: true, limits: { ...unitLimits, pids: 4096, diskGb: 50 } });
  for (const name of ["", ".local/share", "Untitled.ipynb", "link"])
    expect(await lstat(join(home, name)), name).toMatchObject({ uid: runUser, gid: runUser });
  expect((await lstat(outside)).uid, "what a link leads to stays its owner's").toBe(0);
});
