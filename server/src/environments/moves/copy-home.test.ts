import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { processDriver } from "../../drivers/process/process-driver.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { copyHome } from "./copy-home.ts";

/** Two hosts of the process driver: folders of homes of their own. */
async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "berth-copy-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const open = (name: string) =>
    processDriver({ directory: join(folder, name), install: "0123456789ab", network: "shared", log: silentLogger });
  const [source, target] = [await open("one"), await open("two")];
  const [from, to] = [join(folder, "one/homes/before"), join(folder, "two/homes/after")];
  mkdirSync(from, { mode: 0o700 });
  const seen = { total: 0, bytes: 0 };
  const copy = (signal = new AbortController().signal) =>
    copyHome({
      ...{ source, target, from: "before", to: "after", signal },
      onTotal: (bytes) => {
        seen.total = bytes;
      },
      onBytes: (bytes) => {
        seen.bytes += bytes;
      },
    });
  return { from, to, seen, copy, target };
}

test("G195 every byte of a home arrives on another host, and its progress is known on the way", async () => {
  const { from, to, seen, copy } = await setup();
  let total = 0;
  for (let number = 0; number < 300; number++) {
    const bytes = randomBytes(number * 37);
    total += bytes.length;
    mkdirSync(join(from, `folder ${number % 7}`), { recursive: true });
    writeFileSync(join(from, `folder ${number % 7}`, `${number}.bin`), bytes);
  }
  await copy();
  await promisify(execFile)("diff", ["-r", from, to]);
  expect(seen.total).toBe(total);
  expect(seen.bytes).toBeGreaterThan(total);
});

test("G195 a copy that is ended leaves the files where they are, and its part is deleted like any home", async () => {
  const { from, copy, target } = await setup();
  writeFileSync(join(from, "a.txt"), "words");
  const ending = new AbortController();
  ending.abort(new Error("enough"));
  await expect(copy(ending.signal)).rejects.toThrow("enough");
  await target.deleteHome("after");
  await copy();
  expect(await target.countHome("after", new AbortController().signal)).toEqual({ entries: 1, bytes: 5 });
});
