import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStates } from "./run-states.ts";

test("a file that a power cut left empty is no run, and does not hide another one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "berth-test-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const states = runStates(directory);
  const run = {
    id: "whole",
    generation: 1,
    specHash: "",
    image: "jupyter",
    home: "h",
    gpus: [],
    createdAt: new Date().toISOString(),
    mark: "m",
    socketFolder: "",
  };
  await states.write(run);
  await mkdir(states.folder("empty"));
  await writeFile(join(states.folder("empty"), "run.json"), "");
  expect(await states.read("empty")).toBe(undefined);
  expect(await states.list()).toEqual([run]);
});
