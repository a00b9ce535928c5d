import { readFileSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { strictLog } from "../../logging/testing/record-log.ts";
import type { Driver } from "../driver.ts";
import { callLab, startReady, testSpec } from "../testing/drive-run.ts";
import { openProcessMachine } from "../testing/process-machine.ts";
import { forkServer } from "./fork-server.ts";
import { readRuntime } from "./prepare-runtime.ts";
import { processesOf } from "./process-run.ts";
import { type ProcessRow, processTable, send } from "./process-table.ts";

let machine: Awaited<ReturnType<typeof openProcessMachine>>;
let driver: Driver;
beforeAll(async () => {
  machine = await openProcessMachine();
  driver = await machine.open();
  await driver.prepare("jupyter");
}, 300_000);
afterAll(() => machine.close());

const hasSandbox = async () => (await driver.capabilities()).isolation === "bubblewrap";

async function startedRun() {
  const wanted = testSpec();
  onTestFinished(() => driver.stop(wanted.id, 0));
  await startReady(driver, wanted);
  const state = await machine.states.read(wanted.id);
  const rows = state ? await processesOf(state) : [];
  return { wanted, rows, lab: rows.findLast(({ name }) => name.startsWith("python")) };
}

const isForked = (rows: readonly ProcessRow[]) => rows.some(({ name }) => name === "lab-waiter");

/** The process of the fork server that forks this file's runs; others of this test run have theirs. */
async function ownForkServer(): Promise<ProcessRow[]> {
  const runtime = await readRuntime(machine.runtimes, "jupyter");
  const socket = runtime && (await forkServer(runtime, strictLog()));
  const children = [...(await processTable()).values()].filter(({ parent }) => parent === process.pid);
  const isIt = ({ pid }: ProcessRow) => readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith(`\0${socket}\0`);
  return children.filter(isIt);
}

/** Namespaces, rights and limits of a process, as the kernel has them. */
function rightsOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const namespaces = ["user", "mnt", "pid", "ipc", "uts", "cgroup", "net"];
  return {
    namespaces: namespaces.map((name) => readlinkSync(`/proc/${pid}/ns/${name}`)),
    status: status
      .split("\n")
      .filter((line) => /^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):/.test(line)),
    limits: readFileSync(`/proc/${pid}/limits`, "utf8"),
    outOfMemoryScore: readFileSync(`/proc/${pid}/oom_score_adj`, "utf8"),
    cgroup: readFileSync(`/proc/${pid}/cgroup`, "utf8"),
  };
}

test("a forked JupyterLab has the namespaces and rights of the sandbox's own command, and nothing of its fork server", async ({
  skip,
}) => {
  if (!(await hasSandbox())) skip("no bubblewrap");
  const { rows, lab } = await startedRun();
  const command = rows.findLast(({ name }) => name === "sh");
  const waiter = rows.find(({ name }) => name === "lab-waiter");
  if (!lab || !command || !waiter) throw new Error("not forked");
  expect(rightsOf(lab.pid)).toEqual(rightsOf(command.pid));
  expect(rightsOf(lab.pid).namespaces).not.toEqual(rightsOf(process.pid).namespaces);
  expect(rightsOf(waiter.pid)).toEqual(rightsOf(command.pid));
  expect(readFileSync(`/proc/${lab.pid}/status`, "utf8")).toMatch(/^CapBnd:\t0+$/m);
  const paths = (await readdir(`/proc/${lab.pid}/fd`)).map((fd) => readlinkSync(`/proc/${lab.pid}/fd/${fd}`));
  expect(paths.filter((path) => path.startsWith("pipe:"))).toEqual([]);
  expect(await readdir(`/proc/${waiter.pid}/fd`)).toEqual(["0"]);
});

test("a run survives its fork server, the next one begins without it, and later ones are forked again", async ({
  skip,
}) => {
  if (!(await hasSandbox())) skip("no bubblewrap");
  const { wanted } = await startedRun();
  send(await ownForkServer(), "SIGKILL");
  const next = await startedRun();
  expect(await callLab(driver, wanted, "GET", "/api")).toMatchObject({ status: 200 });
  expect(await callLab(driver, next.wanted, "GET", "/api")).toMatchObject({ status: 200 });
  await expect.poll(async () => isForked((await startedRun()).rows)).toBe(true);
});

test("a fork server that does not answer in time starts nothing later", async ({ skip }) => {
  if (!(await hasSandbox())) skip("no bubblewrap");
  await startedRun();
  const servers = await ownForkServer();
  send(servers, "SIGSTOP");
  onTestFinished(() => send(servers, "SIGCONT"));
  const { rows, wanted } = await startedRun();
  expect(isForked(rows)).toBe(false);
  send(servers, "SIGCONT");
  await expect.poll(async () => isForked((await startedRun()).rows)).toBe(true);
  const state = await machine.states.read(wanted.id);
  expect(state && isForked(await processesOf(state))).toBe(false);
});
