import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLocalHomes } from "../../drivers/homes/local-homes.ts";
import { packLimits, withinLimits } from "../../drivers/homes/pack-limits.ts";
import { filesIn } from "../../drivers/testing/drive-run.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { gapsOf } from "./gaps-of.ts";
import { type HomeSummary, homesEntries } from "./list-entries.ts";
import type { Manifest } from "./manifest.ts";
import { temporaryFolder } from "./testing/setup-backup.ts";

/** A home with files that no archive can have, or not in any time. */
function hostileHome(dataDir: string): void {
  const home = join(dataDir, "homes", "home");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "a.txt"), "kept");
  for (const name of ["big-1", "big-2"]) {
    writeFileSync(join(home, name), "");
    truncateSync(join(home, name), 4 * 2 ** 40);
  }
  writeFileSync(join(home, "small"), "");
  truncateSync(join(home, "small"), 2 ** 20);
  writeFileSync(Buffer.concat([Buffer.from(`${home}/x`), Buffer.from([0xff])]), "odd");
  execFileSync("mkfifo", [join(home, "fifo")]);
  const socket = createServer().listen(join(home, "socket"));
  onTestFinished(() => void socket.close());
}

test("G311 sparse files of terabytes, odd names, FIFOs and sockets are gaps of a backup with a name, and all else is in it", async () => {
  const dataDir = temporaryFolder();
  hostileHome(dataDir);
  mkdirSync(join(dataDir, "homes", "loud"));
  execFileSync("mkfifo", [join(dataDir, "homes", "loud", "\u001b[2J\nall is well")]);
  const [found, paths]: [HomeSummary[], string[]] = [[], []];
  for await (const { type, path } of homesEntries(dataDir, "i", (home) => void found.push(home)))
    if (type === "File") paths.push(path);
  expect(paths.sort()).toEqual(["homes/.installation", "homes/home/a.txt", "homes/home/small"]);
  expect(found).toMatchObject([
    { home: "home", files: 2, bytes: 4 + 2 ** 20, leftOut: { count: 5 } },
    { home: "loud" },
  ]);
  expect(gapsOf({ homes: found } as unknown as Manifest)).toEqual([
    expect.stringMatching(/^home: 5 entries are not in the backup, the first is \S+ \((a|its) [^()]+\)\.$/),
    "loud: 1 entries are not in the backup, the first is [2J all is well (a FIFO or a socket).",
  ]);
});

test("G311 a download of such a home ends, and its last file names what is not in it", async () => {
  const dataDir = temporaryFolder();
  hostileHome(dataDir);
  const { archive } = await openLocalHomes(join(dataDir, "homes"), silentLogger);
  const files = await filesIn(archive("home", new AbortController().signal));
  const text = files.get("NOT-IN-THIS-ARCHIVE.txt") ?? "";
  expect(text.trim().split("\n").sort()).toEqual(
    ["big-1", "big-2"].map((name) => `${name}: a sparse file that is much larger than its blocks`),
  );
  expect(files.get("a.txt")).toBe("kept");
});

test("G311 a list of files without an end has one, by number and by time", async () => {
  const endless = async function* () {
    for (let n = 0; ; n++) yield { type: "Directory", path: `d${n}`, mode: 0o700, modifiedAt: new Date() } as const;
  };
  const cut = async (limits: object) => {
    const [paths, left]: [string[], string[]] = [[], []];
    const entries = withinLimits(endless(), (...each) => void left.push(each.join(": ")), { ...packLimits, ...limits });
    for await (const { path } of entries) paths.push(path);
    return { count: paths.length, left };
  };
  expect(await cut({ entries: 3 })).toEqual({ count: 3, left: ["d3: all after 3 files"] });
  expect((await cut({ ms: 0 })).left).toEqual([expect.stringMatching(/^d\d+: all after 0 hours$/)]);
});
