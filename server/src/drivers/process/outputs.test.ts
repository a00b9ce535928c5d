import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Agent, request, WebSocket } from "undici";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { startReady, testSpec } from "../testing/drive-run.ts";
import { openProcessMachine } from "../testing/process-machine.ts";
import { pythonOf } from "./lab-command.ts";
import { readRuntime } from "./prepare-runtime.ts";

const images = new URL("../../../../images/", import.meta.url).pathname;

let machine: Awaited<ReturnType<typeof openProcessMachine>>;
let driver: Driver;
let wanted: Spec;
let home: string;
beforeAll(async () => {
  machine = await openProcessMachine();
  driver = await machine.open();
  await driver.prepare("jupyter");
  wanted = testSpec();
  home = join(machine.directory, "homes", wanted.home);
  await mkdir(join(home, ".local/share/berth/outputs"), { recursive: true });
  await writeFile(join(home, ".local/share/berth/outputs/1-spoilt.jsonl"), "no JSON\n");
}, 300_000);
/** In the first test, because waiting is asserting. */
let started: Promise<Spec> | undefined;
afterAll(async () => {
  await driver.stop(wanted.id, 0);
  await machine.close();
});

const journal = async () => (await readdir(join(home, ".local/share/berth/outputs"))).toSorted();
const loop = (lines: number, after = "") => `import time
for n in range(${lines}):
    print("line", n, flush=True)
    while n == 20 and not __import__("os").path.exists("go"): time.sleep(0.02)
${after}`;
const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}\n`).join("");

interface Cell {
  readonly id: string;
  readonly source: string;
  outputs: readonly Readonly<Record<string, unknown>>[];
  execution_count: number | null;
}
const notebook = (...sources: string[]) => ({
  cells: sources.map((source, place) => ({
    ...{ id: `cell-${place}`, cell_type: "code", metadata: {} },
    ...{ source, outputs: [], execution_count: null },
  })),
  metadata: { kernelspec: { name: "python3", display_name: "Python 3" } },
  ...{ nbformat: 4, nbformat_minor: 5 },
});

async function lab() {
  started ??= startReady(driver, wanted);
  await started;
  const seen = await driver.observe(wanted.id);
  if (seen.state !== "running") throw new Error(`it is ${seen.state}`);
  const { endpoint } = seen;
  return {
    at: "socketPath" in endpoint ? "localhost" : `${endpoint.host}:${endpoint.port}`,
    dispatcher: new Agent("socketPath" in endpoint ? { connect: { socketPath: endpoint.socketPath } } : {}),
  };
}

async function call<Reply>(method: string, path: string, body?: unknown): Promise<Reply> {
  const { at, dispatcher } = await lab();
  const headers = { authorization: `token ${wanted.token}`, "content-type": "application/json" };
  const sent = { method, headers, dispatcher, body: body === undefined ? null : JSON.stringify(body) };
  const reply = await request(`http://${at}${path}`, sent as never);
  const text = await reply.body.text();
  expect(`${reply.statusCode} ${reply.statusCode < 300 ? "" : text}`).toMatch(/^2/);
  return text === "" ? (undefined as Reply) : JSON.parse(text);
}

const save = (path: string, content: unknown) => call("PUT", `/api/contents/${path}`, { type: "notebook", content });
async function open(path: string): Promise<{ cells: Cell[] }> {
  return (await call<{ content: { cells: Cell[] } }>("GET", `/api/contents/${path}?type=notebook`)).content;
}
async function openCells(
  path: string,
): Promise<readonly (readonly [outputs: Cell["outputs"], count: number | null])[]> {
  return (await open(path)).cells.map((cell) => [cell.outputs, cell.execution_count] as const);
}

/** A page that has saved the notebook and runs all its cells. `until` closes when this text was printed. */
async function runAll(path: string, sources: readonly string[], until?: string) {
  await save(path, notebook(...sources));
  const session = { path, name: path, type: "notebook", kernel: { name: "python3" } };
  const { kernel } = await call<{ kernel: { id: string } }>("POST", "/api/sessions", session);
  onTestFinished(async () => {
    for (const { id } of await call<{ id: string }[]>("GET", "/api/kernels"))
      await call("DELETE", `/api/kernels/${id}`);
  });
  const { at, dispatcher } = await lab();
  const url = `ws://${at}/api/kernels/${kernel.id}/channels?session_id=${path}&token=${wanted.token}`;
  const socket = new WebSocket(url, { dispatcher });
  const { promise: seen, resolve, reject } = Promise.withResolvers<void>();
  let printed = "";
  let idle = 0;
  socket.addEventListener("error", () => reject(new Error("no kernel")));
  socket.addEventListener("message", ({ data }) => {
    const { header, parent_header: parent, content } = JSON.parse(String(data));
    printed += header.msg_type === "stream" ? content.text : "";
    if (parent.msg_id?.startsWith(path) && content.execution_state === "idle") idle += 1;
    if (until === undefined ? idle === sources.length : printed.includes(until)) resolve();
  });
  socket.addEventListener("open", () => {
    for (const [place, code] of sources.entries()) {
      const header = {
        msg_id: `${path}-${place}`,
        msg_type: "execute_request",
        session: path,
        username: "",
        version: "5.4",
      };
      const content = { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false };
      const metadata = { cellId: `cell-${place}` };
      socket.send(JSON.stringify({ header, parent_header: {}, metadata, content, channel: "shell", buffers: [] }));
    }
  });
  await seen;
  return {
    kernel: kernel.id,
    close: () => socket.close(),
    ended: () => expect.poll(() => running(path), { timeout: 30_000, interval: 50 }).toEqual([]),
  };
}

const running = async (path: string) => (await call<{ runs: unknown[] }>("GET", `/berth/outputs?path=${path}`)).runs;

test("what a cell prints without a page is in the notebook that is read, while it runs and afterwards; the file is as it was (G375, G376)", async () => {
  const page = await runAll("a.ipynb", [loop(60, "1 + 1")], "line 19");
  page.close();
  const file = await readFile(join(home, "a.ipynb"));
  await expect
    .poll(async () => (await openCells("a.ipynb"))[0], { interval: 50 })
    .toEqual([[{ output_type: "stream", name: "stdout", text: lines(21) }], 1]);
  expect(await running("a.ipynb")).toEqual([{ id: "a.ipynb-0", cell: "cell-0", is_shown: false }]);
  await writeFile(join(home, "go"), "");
  await page.ended();
  const result = { output_type: "execute_result", data: { "text/plain": "2" }, metadata: {}, execution_count: 1 };
  const all = [{ output_type: "stream", name: "stdout", text: lines(60) }, result];
  expect(await openCells("a.ipynb")).toEqual([[all, 1]]);
  expect(await readFile(join(home, "a.ipynb"))).toEqual(file);

  // A page that saves less, because it was opened meanwhile, loses nothing; one that saves all ends the record.
  const content = await open("a.ipynb");
  const some = { ...content, cells: [{ ...content.cells[0], outputs: all.slice(0, 1) }] };
  await save("a.ipynb", some);
  expect(await openCells("a.ipynb")).toEqual([[all, 1]]);
  await save("a.ipynb", content);
  await save("a.ipynb", some);
  expect(await openCells("a.ipynb")).toEqual([[all.slice(0, 1), 1]]);
  expect((await journal()).filter((name) => name.endsWith(".jsonl"))).toEqual([]);
});

test("errors, results, progress bars and updated displays are kept as a page would show them; edited cells keep what they have (G375, G376)", async () => {
  const bar =
    'import sys\nfor n in range(3): sys.stdout.write(f"\\r{n} of 3"); sys.stdout.flush()\nprint("\\rall x\\by")';
  const display = `from IPython.display import clear_output, display
print("gone"); clear_output(wait=True); shown = display("first", display_id=True); shown.update("second")`;
  const sources = [
    `while not __import__("os").path.exists("then"): pass`,
    bar,
    display,
    "6 * 7",
    "edited = 1",
    "1 / 0",
  ];
  const page = await runAll("b.ipynb", sources, "");
  page.close();
  const edited = notebook(...sources.map((source) => source.replace("edited = 1", "edited = 2")));
  await save("b.ipynb", edited);
  await writeFile(join(home, "then"), "");
  await expect
    .poll(async () => (await openCells("b.ipynb"))[5]?.[0], { timeout: 30_000, interval: 50 })
    .toHaveLength(1);
  await page.ended();
  const cells = await openCells("b.ipynb");
  const data = (text: string) => ({ data: { "text/plain": text }, metadata: {} });
  expect(cells.slice(0, 5)).toEqual([
    [[], 1],
    [[{ output_type: "stream", name: "stdout", text: "all y3\n" }], 2],
    [[{ output_type: "display_data", ...data("'second'") }], 3],
    [[{ output_type: "execute_result", ...data("42"), execution_count: 4 }], 4],
    [[], null],
  ]);
  expect(cells[5]).toMatchObject([
    [{ output_type: "error", ename: "ZeroDivisionError", evalue: "division by zero" }],
    6,
  ]);
  expect((await open("b.ipynb")).cells.map((cell) => cell.source)).toEqual(edited.cells.map((cell) => cell.source));
});

test("a record outlives JupyterLab and a new name of its notebook; what was written elsewhere since is not replaced (G376)", async () => {
  const page = await runAll("c.ipynb", ["print('kept')", "import time; time.sleep(3600)"], "kept");
  page.close();
  await call("PATCH", "/api/contents/c.ipynb", { path: "d.ipynb" });
  const goesOn = async () => {
    await openCells("d.ipynb");
    return running("d.ipynb");
  };
  await expect.poll(goesOn, { interval: 50, timeout: 30_000 }).toMatchObject([{ cell: "cell-1" }]);
  await call("POST", `/api/kernels/${page.kernel}/restart`);
  expect(await running("d.ipynb")).toEqual([]);
  await driver.stop(wanted.id, 5_000);
  started = startReady(driver, { ...wanted, generation: 2 });
  wanted = { ...wanted, generation: 2 };
  const kept = [[{ output_type: "stream", name: "stdout", text: "kept\n" }], 1];
  expect((await openCells("d.ipynb"))[0]).toEqual(kept);
  const later = new Date(Date.now() + 60_000);
  await utimes(join(home, "d.ipynb"), later, later);
  expect(await openCells("d.ipynb")).toEqual([
    [[], null],
    [[], null],
  ]);
});

test("a record that cannot be read is set aside, and JupyterLab starts (G375)", async () => {
  expect(await journal()).toContain("1-spoilt.jsonl.unreadable");
});

test.each([
  "merges",
  "compaction",
  "limit",
  "full_disk",
  "half_a_line",
  "spoilt_folder",
  "cleared",
  "threads",
  "renames",
  "room",
])("records of outputs alone: %s (G375, G376)", async (name) => {
  const runtime = await readRuntime(machine.runtimes, "jupyter");
  if (!runtime) throw new Error("JupyterLab is not prepared");
  const args = ["-B", join(images, "check_outputs.py"), name];
  await promisify(execFile)(pythonOf(runtime), args, { env: { TMPDIR: machine.directory } });
});
