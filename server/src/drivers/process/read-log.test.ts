import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { readLog } from "./read-log.ts";

async function openLog() {
  const folder = await mkdtemp(join(tmpdir(), "berth-log-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "log");
}

/** What a follower hears until `end` is called. */
function follow(path: string, tail = 1_000) {
  const received: string[] = [];
  let goesOn = true;
  const signal = new AbortController().signal;
  const done = (async () => {
    for await (const line of readLog(path, { tail, signal, follow: async () => goesOn })) received.push(line);
  })();
  const end = async () => {
    goesOn = false;
    await done;
    return received;
  };
  return { received, end };
}

test("lines of the rotated part come first, and a follower loses none at a rotation", async () => {
  const path = await openLog();
  await writeFile(`${path}.old`, "one\ntwo\n");
  await writeFile(path, "three\nfo");
  const { received, end } = follow(path, 2);
  await expect.poll(() => received).toEqual(["two", "three"]);
  await appendFile(path, "ur\n");
  await expect.poll(() => received.at(-1)).toBe("four");
  await appendFile(path, "five\n");
  await rename(path, `${path}.old`);
  await writeFile(path, "six\n");
  await expect.poll(() => received.at(-1)).toBe("six");
  expect(await end()).toEqual(["two", "three", "four", "five", "six"]);
});

test("a line is cut at 8 KB, whatever its chunks, and the next one is whole", async () => {
  const path = await openLog();
  await writeFile(path, "");
  const { received, end } = follow(path);
  for (let part = 0; part < 40; part++) await appendFile(path, "x".repeat(10_000));
  await appendFile(path, "\nnext\n");
  await expect.poll(() => received.at(-1)).toBe("next");
  expect((await end()).map((line) => line.length)).toEqual([8_192, 4]);
});

test("a truncated log is read from its new end on", async () => {
  const path = await openLog();
  await writeFile(path, "a first line\n");
  const { received, end } = follow(path);
  await expect.poll(() => received).toEqual(["a first line"]);
  await truncate(path, 0);
  await appendFile(path, "again\n");
  await expect.poll(() => received).toEqual(["a first line", "again"]);
  await end();
});

test("a log that grows by 400 MB between two polls costs its reader next to nothing", async () => {
  const path = await openLog();
  const script = `
    import { appendFile, truncate, writeFile } from "node:fs/promises";
    import { readLog } from "${new URL("read-log.ts", import.meta.url)}";
    const path = ${JSON.stringify(path)};
    await writeFile(path, "first\\n");
    const signal = new AbortController().signal;
    let before = 0;
    for await (const line of readLog(path, { tail: 10, signal, follow: async () => true })) {
      if (line === "first") {
        before = process.resourceUsage().maxRSS;
        await truncate(path, 400_000_000);
        await appendFile(path, "\\nlast\\n");
      }
      if (line === "last") break;
    }
    console.log(((process.resourceUsage().maxRSS - before) * 1024) / 1e6);`;
  const args = ["--input-type=module", "--no-warnings", "-e", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(Number(stdout)).toBeLessThan(30);
});
