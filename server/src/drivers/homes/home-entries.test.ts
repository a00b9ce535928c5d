import { execFile } from "node:child_process";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, open, readlink, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Unpack } from "tar";
import { expect, onTestFinished, test } from "vitest";
import { filesIn } from "../testing/drive-run.ts";
import { homeEntries } from "./home-entries.ts";
import { packArchive } from "./pack-archive.ts";

async function setup() {
  const folder = await mkdtemp(join(tmpdir(), "berth-home-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const home = join(folder, "home");
  await mkdir(home);
  await writeFile(join(folder, "secret.txt"), "of the server");
  const archive = (signal = new AbortController().signal) => packArchive(homeEntries(home), signal);
  return {
    folder,
    home,
    archive,
    async unpacked() {
      const to = join(folder, "unpacked");
      await mkdir(to);
      const unpack = new Unpack({ cwd: to, preservePaths: true, strict: true });
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      unpack.on("close", resolve);
      unpack.on("error", reject);
      for await (const chunk of archive()) unpack.write(chunk);
      unpack.end();
      await promise;
      return to;
    },
    /** Files and folders of this home that this process has open. */
    opened: () =>
      readdirSync("/proc/self/fd").filter((fd) => targetOf(`/proc/self/fd/${fd}`).startsWith(folder)).length,
  };
}

/** Empty when it was closed while we looked. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}

test("GNU tar unpacks the archive to the same tree: long names, other alphabets, empty files and folders, names that are not UTF-8", async () => {
  const { home, folder, archive } = await setup();
  const long = join("a".repeat(120), "b".repeat(120), "ß".repeat(100));
  await mkdir(join(home, long), { recursive: true });
  await mkdir(join(home, "empty"));
  await writeFile(join(home, long, "data.bin"), Buffer.alloc(1_000_003, 7));
  await writeFile(join(home, "none"), "");
  await writeFile(join(home, "日本 語\n.txt"), "text");
  await writeFile(join(home, "script.sh"), "echo", { mode: 0o755 });
  await writeFile(Buffer.concat([Buffer.from(`${home}/x`), Buffer.from([0xff])]), "odd");
  const file = join(folder, "home.tar.gz");
  await writeFile(file, archive());
  const to = join(folder, "to");
  await mkdir(to);
  await promisify(execFile)("tar", ["-xzf", file, "-C", to]);
  await rename(join(to, "x\ufffd"), Buffer.concat([Buffer.from(`${to}/x`), Buffer.from([0xff])]));
  await promisify(execFile)("diff", ["-r", home, to]);
  const { stdout } = await promisify(execFile)("stat", ["-c", "%a %Y", join(home, "script.sh"), join(to, "script.sh")]);
  const [before, after] = stdout.trim().split("\n");
  expect(after).toBe(before);
});

test("links stay links, whatever their target; pipes and sockets are left out", async () => {
  const { home, folder, unpacked } = await setup();
  await symlink(join(folder, "secret.txt"), join(home, "outside"));
  await symlink("..", join(home, "up"));
  await symlink("nowhere", join(home, "broken"));
  await promisify(execFile)("mkfifo", [join(home, "pipe")]);
  const to = await unpacked();
  expect(await readlink(join(to, "outside"))).toBe(join(folder, "secret.txt"));
  expect(await readlink(join(to, "up"))).toBe("..");
  expect(await readlink(join(to, "broken"))).toBe("nowhere");
  expect(existsSync(join(to, "pipe"))).toBe(false);
});

test("a folder that becomes a link while it is waiting is not followed out of the home", async () => {
  const { home, folder, opened } = await setup();
  await mkdir(join(home, "swapped"));
  await writeFile(join(home, "swapped", "own.txt"), "own");
  const seen: string[] = [];
  for await (const { path } of homeEntries(home)) {
    seen.push(path);
    if (path !== "swapped") continue;
    await rm(join(home, "swapped"), { recursive: true });
    await symlink(folder, join(home, "swapped"));
  }
  expect(seen).toEqual(["swapped"]);
  expect(opened()).toBe(0);
});

test("files that shrink, grow and vanish while they are read do not break the archive", async () => {
  const { home, unpacked } = await setup();
  const size = 3_000_000;
  for (const name of ["shrinks", "grows", "vanishes"]) await writeFile(join(home, name), Buffer.alloc(size, 1));
  const changing = async function* () {
    for await (const entry of homeEntries(home)) {
      if (entry.path === "shrinks") await truncate(join(home, "shrinks"), 10);
      if (entry.path === "grows") await appendFile(join(home, "grows"), Buffer.alloc(1000, 2));
      if (entry.path === "vanishes") await rm(join(home, "vanishes"));
      yield entry;
    }
  };
  const files = await filesIn(packArchive(changing(), new AbortController().signal));
  expect([...files.keys()].toSorted()).toEqual(["grows", "shrinks", "vanishes"]);
  for (const text of files.values()) expect(text).toHaveLength(size);
  expect(files.get("shrinks")?.slice(0, 12)).toBe(`${"\u0001".repeat(10)}\0\0`);
  await unpacked();
});

test("300 MB stream in constant memory; a reader who disconnects, or an abort, leaves nothing open", async () => {
  const { home, archive, opened } = await setup();
  const file = await open(join(home, "huge"), "w");
  await file.truncate(300_000_000);
  await file.close();
  const before = process.memoryUsage().rss;
  let most = 0;
  for await (const _ of archive()) most = Math.max(most, process.memoryUsage().rss);
  expect((most - before) / 1e6).toBeLessThan(120);
  expect(opened()).toBe(0);

  for await (const _ of archive()) break;
  await expect.poll(opened).toBe(0);

  const ending = new AbortController();
  const reading = async () => {
    for await (const _ of archive(ending.signal)) ending.abort();
  };
  await expect(reading()).rejects.toThrow("aborted");
  await expect.poll(opened).toBe(0);
});

test("a tree of three hundred levels is walked with a handful of open files", async () => {
  const { home, opened } = await setup();
  let most = 0;
  await mkdir(join(home, ...Array.from({ length: 300 }, () => "d")), { recursive: true });
  let folders = 0;
  for await (const _ of homeEntries(home)) {
    folders += 1;
    most = Math.max(most, opened());
  }
  expect(folders).toBe(300);
  expect(most).toBeLessThan(5);
});
