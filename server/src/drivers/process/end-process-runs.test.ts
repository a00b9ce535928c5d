import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { recordLog } from "../../logging/testing/record-log.ts";
import { endProcessRuns } from "./end-process-runs.ts";
import { processRow } from "./process-table.ts";
import { runStates } from "./run-states.ts";

async function setup() {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "berth-test-")));
  onTestFinished(() => rm(directory, { recursive: true }));
  const states = runStates(join(directory, "environments", "ours"));
  /** A process that outlived its server, with the record that it left. */
  async function run(id: string, homePath: string) {
    const mark = randomUUID();
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit").then(() => "ended" as const);
    const pid = child.pid ?? 0;
    const process = { pid, startedAt: (await processRow(pid))?.startedAt ?? "" };
    const socketFolder = join(directory, `sockets-${id}`);
    await mkdir(socketFolder);
    const rest = { generation: 1, specHash: "", image: "jupyter", gpus: [], createdAt: new Date().toISOString() };
    await states.write({ ...rest, id, home: id, homePath, mark, socketFolder, socketOutside: true, process });
    return { ended, isAlive: () => child.exitCode === null && child.signalCode === null };
  }
  return { directory, states, run, homeOf: (id: string) => join(directory, "homes", id) };
}

test("what the process driver left running ends where another driver takes its homes; a copy's runs are left alone", async () => {
  const { directory, states, run, homeOf } = await setup();
  const own = await run("own", homeOf("own"));
  const other = await run("other", "/elsewhere/homes/other");
  const { log, lines } = recordLog();
  await endProcessRuns(directory, "ours", log);
  await own.ended;
  expect(other.isAlive()).toBe(true);
  expect((await states.list()).map(({ id }) => id)).toEqual(["other"]);
  expect(lines).toMatchObject([{ event: "process.runs_ended", count: 1 }]);
  await endProcessRuns(directory, "ours", log);
  expect(lines).toHaveLength(1);
});

test("a data folder that never had processes is left as it is", async () => {
  const { directory } = await setup();
  const { log, lines } = recordLog();
  await endProcessRuns(directory, "ours", log);
  expect(lines).toEqual([]);
});
