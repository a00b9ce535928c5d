import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readRuntime } from "./prepare-runtime.ts";

test("a runtime of an older version is not used as this version's", async () => {
  const runtimes = await mkdtemp(join(tmpdir(), "berth-runtimes-"));
  onTestFinished(() => rm(runtimes, { recursive: true }));
  for (const folder of ["jupyter", "jupyter-00000000"]) {
    await mkdir(join(runtimes, folder));
    await writeFile(join(runtimes, folder, "runtime.json"), JSON.stringify({ python: { version: "3.11.2" } }));
  }
  expect(await readRuntime(runtimes, "jupyter")).toBeUndefined();
  expect(await readRuntime(runtimes, "no-such-type")).toBeUndefined();
});
