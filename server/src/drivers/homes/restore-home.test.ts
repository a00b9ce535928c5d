import { execFile } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../logging/create-logger.ts";
import { openLocalHomes } from "./local-homes.ts";
import { restoreHome } from "./restore-home.ts";

const limits = { cpus: 1, memoryMb: 1, shmMb: 1, pids: 1, diskGb: 1 };
const { signal } = new AbortController();
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "berth-restore-"));
  onTestFinished(() =>
    promisify(execFile)("chmod", ["-R", "u+rwx", folder]).then(() => rm(folder, { recursive: true })),
  );
  const open = (name: string) => openLocalHomes(join(folder, name), silentLogger);
  const [here, there] = [await open("here"), await open("there")];
  await here.make({ home: "one", limits });
  return { here, there, from: here.path("one"), to: there.path("two"), restore: restoreHome(there, owner) };
}

/** As `find` describes everything below a folder. Folders have no size of their own, and links get another time. */
async function describe(folder: string): Promise<readonly string[]> {
  const kinds = "-type d -printf '%y %m %P\\n' -o -type l -printf '%y %P %l\\n' -o -printf '%y %m %s %Ts %P\\n'";
  const lines = `find . -mindepth 1 ${kinds} | sort`;
  return (await promisify(execFile)("sh", ["-c", `cd ${folder} && ${lines}`])).stdout.split("\n");
}

test("G195 a restored home is the same tree: links anywhere, closed folders, long names, modes and times; its owner may read it", async () => {
  const { here, there, from, to, restore } = await setup();
  mkdirSync(join(from, "deep", "er"), { recursive: true });
  writeFileSync(join(from, "deep", "er", "data"), Buffer.alloc(700_001, 3), { mode: 0o640 });
  writeFileSync(join(from, "run.sh"), "echo", { mode: 0o755 });
  writeFileSync(join(from, `${"n".repeat(200)}.txt`), "");
  writeFileSync(join(from, "日本 語\n.txt"), "text");
  for (const [name, target] of [
    ["up", "../../.."],
    ["absolute", "/etc/passwd"],
    ["broken", "nowhere"],
  ])
    symlinkSync(target ?? "", join(from, name ?? ""));
  for (const name of ["run.sh", `${"n".repeat(200)}.txt`])
    utimesSync(join(from, name), 1_700_000_000.9, 1_700_000_000.9);
  chmodSync(join(from, "deep", "er"), 0o555);
  chmodSync(join(from, "deep"), 0o555);
  await restore({ home: "two", limits }, here.archive("one", signal), signal);
  expect(await describe(to)).toEqual(await describe(from));
  expect(await there.countHome("two", signal)).toEqual(await here.countHome("one", signal));
  expect(lstatSync(join(to, "deep", "er", "data"))).toMatchObject(owner);
  expect(lstatSync(join(to, "up"))).toMatchObject(owner);
  expect(lstatSync(to).mode & 0o777).toBe(0o700);
});

test("G195 names that are not UTF-8 are refused, because they would change; nothing is lost", async () => {
  const { here, from, restore } = await setup();
  writeFileSync(Buffer.concat([Buffer.from(`${from}/x`), Buffer.from([0xff])]), "odd");
  await expect(here.countHome("one", signal)).rejects.toThrow("not UTF-8");
  await expect(restore({ home: "two", limits }, here.archive("one", signal), signal)).rejects.toThrow("not UTF-8");
});

test.skipIf(process.getuid?.() === 0)("G195 what cannot be read is refused, because it would be missing", async () => {
  const { here, from } = await setup();
  mkdirSync(join(from, "closed"), { mode: 0o000 });
  await expect(here.countHome("one", signal)).rejects.toThrow("cannot be read");
});

test("G195 a home with files is left as it is", async () => {
  const { here, there, to, restore } = await setup();
  await there.make({ home: "two", limits });
  writeFileSync(join(to, "own.txt"), "own");
  const restored = restore({ home: "two", limits }, here.archive("one", signal), signal);
  await expect(restored).rejects.toMatchObject({ code: "refused", message: "two has files already" });
  expect(await there.countHome("two", signal)).toEqual({ entries: 1, bytes: 3 });
});
