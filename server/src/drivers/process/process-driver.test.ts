import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { callLab, startReady, testSpec, waitForState } from "../testing/drive-run.ts";
import { driverSuite } from "../testing/driver.suite.ts";
import { openProcessMachine } from "../testing/process-machine.ts";
import { runInKernel, startKernel } from "../testing/run-in-kernel.ts";
import { socketOf } from "./process-run.ts";
import { processTable, send, treeOf } from "./process-table.ts";
import type { runStates } from "./run-states.ts";
import { socketFolder } from "./socket-folder.ts";

async function treeOfRun(states: ReturnType<typeof runStates>, id: string) {
  const first = (await states.read(id))?.process?.pid ?? 0;
  return treeOf(await processTable(), [first]);
}

driverSuite("process driver", async () => {
  const { open, states, close } = await openProcessMachine();
  return {
    open,
    close,
    async crash(_, id) {
      const rows = await treeOfRun(states, id);
      const lab = rows.find(({ name }) => name.startsWith("python"));
      if (!lab) throw new Error("no python");
      send([lab], "SIGKILL");
    },
  };
});

let machine: Awaited<ReturnType<typeof openProcessMachine>>;
let driver: Driver;
/** With the network off, where that can be. */
let closed: Driver;
beforeAll(async () => {
  machine = await openProcessMachine();
  driver = await machine.open();
  const { isolation } = await driver.capabilities();
  closed = isolation === "bubblewrap" ? await machine.open("one", "off") : driver;
  await driver.prepare("jupyter");
}, 300_000);
afterAll(() => machine.close());

async function begin(wanted: Spec = testSpec(), by: Driver = driver): Promise<Spec> {
  onTestFinished(() => driver.stop(wanted.id, 0));
  await by.start(wanted);
  await waitForState(by, wanted.id, "running");
  return wanted;
}

const sharedRuns = new Map<Driver, Promise<Spec>>();

const inside = (wanted: Spec, by: Driver, script: string) =>
  runInKernel(join(machine.directory, "homes"), wanted, by, script);

/** One run of each driver object, for tests that leave it running; ended with the machine. */
function stands(by: Driver = driver): Promise<Spec> {
  const run = sharedRuns.get(by) ?? startReady(by, testSpec());
  sharedRuns.set(by, run);
  return run;
}

test("a pause stops every process, kernels too; a resume continues all", async () => {
  const wanted = await stands();
  await startKernel(wanted, driver);
  await callLab(driver, wanted, "POST", "/api/terminals");
  await driver.pause(wanted.id);
  const paused = await treeOfRun(machine.states, wanted.id);
  expect(paused.length).toBeGreaterThanOrEqual(4);
  expect(paused.filter(({ stopped }) => !stopped)).toEqual([]);
  await driver.start(wanted);
  expect((await treeOfRun(machine.states, wanted.id)).filter(({ stopped }) => stopped)).toEqual([]);
});

test("a pause cut half-way is observed as running and completed; a resume cut half-way as paused", async () => {
  const wanted = await begin();
  const [first, ...rest] = await treeOfRun(machine.states, wanted.id);
  if (!first) throw new Error("no process");
  send(rest, "SIGSTOP");
  expect(await driver.observe(wanted.id)).toMatchObject({ state: "running" });
  await driver.pause(wanted.id);
  send(rest, "SIGCONT");
  expect(await driver.observe(wanted.id)).toMatchObject({ state: "paused" });
  await driver.start(wanted);
  await expect.poll(() => callLab(driver, wanted, "GET", "/api")).toMatchObject({ status: 200 });
});

test("a server killed between intent and record finds its process again", async () => {
  const wanted = await begin();
  const state = await machine.states.read(wanted.id);
  if (!state) throw new Error("no state");
  const { process, ...intent } = state;
  await machine.states.write(intent);
  expect(await driver.observe(wanted.id)).toMatchObject({ state: "running" });
  await driver.stop(wanted.id, 1_000);
  expect((await processTable()).has(process?.pid ?? 0)).toBe(false);
});

test("a run whose first process was killed is stopped, and start leaves none of its processes behind", async () => {
  const wanted = await begin();
  const rows = await treeOfRun(machine.states, wanted.id);
  send(rows.slice(0, 1), "SIGKILL");
  await waitForState(driver, wanted.id, "stopped");
  await driver.remove(wanted.id);
  const table = await processTable();
  expect(rows.filter(({ pid, startedAt }) => table.get(pid)?.startedAt === startedAt)).toEqual([]);
});

test("a run sees the home's own Python before the runtime's, a named user, nothing of the server or of others", async () => {
  const { isolation } = await driver.capabilities();
  const other = testSpec();
  const wanted = await stands(closed);
  const own = "(/home/user|/.*/homes/home-\\d+)/\\.local/python";
  const python = "command -v python; command -v pip; python -c 'import sys, jupyterlab; print(sys.prefix)'; echo; env";
  const seen = await inside(wanted, closed, python);
  expect(seen).toMatch(new RegExp(`^${own}/bin/python\n${own}/bin/pip\n${own}\n\n`));
  expect(seen).not.toMatch(/^(VITEST|NODE)/m);
  const secret = join(machine.directory, "secret");
  await writeFile(secret, other.token);
  const listener = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void listener.close());
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const knock = `python -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 2); print("reached")'`;
  const view = await inside(wanted, closed, `whoami; ls /proc; cat ${secret}; ls /root ${tmpdir()}; ${knock}`);
  if (isolation !== "bubblewrap") return expect(view).toContain(other.token);
  expect(view).toMatch(/^user\n/);
  expect(view).toContain("Connection refused");
  expect(view).toContain(`${secret}: No such file`);
  expect(view).not.toMatch(/^berth-/m);
  expect(view.split("\n").filter((line) => /^\d+$/.test(line)).length).toBeLessThan(15);
});

/** In every place that the run can write, and where its socket lies: a link to what listens on the host. */
const swap = (socketPath: string, target: string) => `python - <<'E'
import os
for folder in ["/run/jupyter", "/run", ${JSON.stringify(dirname(socketPath))}, os.environ["HOME"]]:
    try:
        os.makedirs(folder, exist_ok=True)
        os.symlink(${JSON.stringify(target)}, folder + "/swap")
        os.rename(folder + "/swap", folder + "/lab.sock")
        print("swapped in", folder)
    except OSError as problem:
        print(problem)
E`;

test.each(["shared", "off"] as const)(
  "a run that links its socket to one of the host has no effect outside; network %s",
  async (network) => {
    const { isolation } = await driver.capabilities();
    if (isolation !== "bubblewrap") return;
    const by = network === "off" ? closed : driver;
    const wanted = await stands(by);
    const seen = await by.observe(wanted.id);
    if (seen.state !== "running" || !("socketPath" in seen.endpoint)) throw new Error("not running");
    const received: string[] = [];
    const target = join(machine.directory, "host-only.sock");
    const host = createServer((socket) => {
      received.push("connected");
      socket.destroy();
    }).listen(target);
    onTestFinished(() => void host.close());
    await once(host, "listening");
    expect(await inside(wanted, by, swap(seen.endpoint.socketPath, target))).toContain("swapped in /run");
    // As after a kill of the server too: the run is adopted, and answers where it did.
    const adopted = await machine.open("one", network);
    expect(await adopted.observe(wanted.id)).toEqual(seen);
    expect(await callLab(adopted, wanted, "GET", "/api")).toMatchObject({ status: 200 });
    expect(received).toEqual([]);
    expect(await readdir(dirname(seen.endpoint.socketPath))).toEqual(["lab.sock"]);
  },
);

test("a run of an older server, which could change its socket's folder, is not connected to, and a start replaces it", async () => {
  const wanted = await begin();
  const state = await machine.states.read(wanted.id);
  if (!state) throw new Error("no state");
  const { socketOutside, ...old } = state;
  await machine.states.write(old);
  expect(await driver.observe(wanted.id)).toMatchObject({ state: "stopped" });
  await driver.start(wanted);
  await waitForState(driver, wanted.id, "running");
  expect((await processTable()).has(old.process?.pid ?? 0)).toBe(false);
});

test("network off without bubblewrap is refused", async () => {
  const { isolation } = await driver.capabilities();
  const opened = machine.open("one", "off");
  if (isolation === "bubblewrap") await opened;
  else await expect(opened).rejects.toMatchObject({ code: "unsupported" });
});

test("folders of a run are closed to others, and the socket's path is short enough", async () => {
  const wanted = await stands();
  const state = await machine.states.read(wanted.id);
  if (!state) throw new Error("no state");
  expect(socketOf(state).length).toBeLessThan(104);
  for (const path of [state.socketFolder, join(state.socketFolder, ".."), machine.states.folder(wanted.id)]) {
    expect((await stat(path)).mode & 0o077).toBe(0);
  }
});

test("a type that is not prepared here names the operator's command; an unprepared start is no_image", async () => {
  await expect(driver.prepare("pytorch")).rejects.toMatchObject({
    code: "no_image",
    message: expect.stringContaining("npm run operator -- prepare pytorch"),
  });
  await expect(driver.start(testSpec({ image: "pytorch" }))).rejects.toMatchObject({ code: "no_image" });
});

test("a run can neither cut its log nor fill the disk with it, and both parts are read", async () => {
  const wanted = await stands();
  const log = "/proc/$(cut -d ' ' -f 4 /proc/$PPID/stat)/fd/1";
  await inside(wanted, driver, `yes | head -c 40000000 > ${log}; truncate -s 400M ${log}; echo the end >> ${log}`);
  const path = join(machine.states.folder(wanted.id), "log");
  const last = async () => {
    const lines: string[] = [];
    const options = { tail: 1_000_000, follow: false, signal: new AbortController().signal };
    for await (const line of driver.logs(wanted.id, options)) lines.push(line);
    return lines;
  };
  await expect.poll(last).toContain("the end");
  for (const part of [path, `${path}.old`]) expect((await stat(part)).size).toBeLessThan(9_000_000);
});

test("the kernel ends runs before the server when memory runs out", async ({ skip }) => {
  skip(process.platform !== "linux", "only Linux chooses");
  const wanted = await stands();
  for (const { pid } of await treeOfRun(machine.states, wanted.id))
    expect(await readFile(`/proc/${pid}/oom_score_adj`, "utf8")).toBe("500\n");
});

/** Opens each setting of the kernel to append to it, and writes nothing. */
const openSettings = `for root in /proc/sys /proc/irq /proc/bus /proc/sysrq-trigger; do find "$root" -type f 2>/dev/null; done |
  while read -r file; do true 2>/dev/null >> "$file" && echo "open: $file"; done; echo done`;

test("G315 a kernel opens no setting of the machine to write it, and is no process of root outside", async ({
  skip,
}) => {
  if ((await driver.capabilities()).isolation !== "bubblewrap") skip("no bubblewrap");
  const wanted = await stands();
  expect(await inside(wanted, driver, openSettings)).toBe("done\n");
  const rows = await treeOfRun(machine.states, wanted.id);
  const lab = rows.find(({ name }) => name.startsWith("python"));
  const [, user = ""] = /^Uid:\t(\d+)/m.exec(await readFile(`/proc/${lab?.pid}/status`, "utf8")) ?? [];
  expect(Number(user)).toBe((await stat(join(machine.directory, "homes", wanted.home))).uid);
  expect(user).not.toBe("0");
});

test("G315 a home of another user, such as of a server before, belongs to its run again", async ({ skip }) => {
  skip(process.getuid?.() !== 0, "only root gives files away");
  const wanted = await begin();
  await driver.stop(wanted.id, 1_000);
  const home = join(machine.directory, "homes", wanted.home);
  await writeFile(join(home, "before"), "");
  execFileSync("chown", ["-R", "12345:12345", home]);
  await driver.start({ ...wanted, generation: 2, homeIsKept: true });
  await waitForState(driver, wanted.id, "running");
  const { uid } = await stat(home);
  expect(uid).not.toBe(12_345);
  expect((await stat(join(home, "before"))).uid).toBe(uid);
});

test("G111 a run on the files of another folder is neither used nor listed", async () => {
  const wanted = await stands();
  const copy = mkdtempSync(join(tmpdir(), "berth-copy-"));
  onTestFinished(() => rm(copy, { recursive: true }));
  // As an operator does: pipes too, which Node does not copy.
  execFileSync("cp", ["-a", `${machine.directory}/.`, copy]);
  const moved = await machine.open("one", "shared", copy);
  onTestFinished(async () => rm(await socketFolder(copy), { recursive: true }));
  await expect(moved.observe(wanted.id)).rejects.toMatchObject({
    code: "no_home",
    message: expect.stringContaining(join(machine.directory, "homes", wanted.home)),
  });
  expect((await moved.list()).map(({ id }) => id)).not.toContain(wanted.id);
});

test("a home that its own program made unreadable is readable at the next start", async () => {
  const wanted = await begin();
  await driver.stop(wanted.id, 1_000);
  const home = join(machine.directory, "homes", wanted.home);
  await chmod(home, 0o000);
  await driver.start({ ...wanted, generation: 2, homeIsKept: true });
  await waitForState(driver, wanted.id, "running");
  expect((await stat(home)).mode & 0o777).toBe(0o700);
});
