import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { Agent, WebSocket } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { processDriver } from "../../drivers/process/process-driver.ts";
import { socketFolder } from "../../drivers/process/socket-folder.ts";
import { callLab, testSpec } from "../../drivers/testing/drive-run.ts";
import { strictLog } from "../../logging/testing/record-log.ts";
import { setupEnvironments, writeOnly } from "../testing/setup-environments.ts";
import { setDoneNotice } from "./done-notice.ts";
import { jupyterIdleSeconds, maxIdleSeconds } from "./jupyter-idle-seconds.ts";
import { startSampling } from "./start-sampling.ts";

const runtimes = join(import.meta.dirname, "../../../../node_modules/.cache/berth/runtimes");

/** JupyterLab and a kernel of it have to start. */
const pollOptions = { timeout: 60_000, interval: 50 };

/** A real JupyterLab, and a way to speak to what runs in it. */
async function jupyter(changes: Parameters<typeof testSpec>[0] = {}) {
  const directory = mkdtempSync(join(tmpdir(), "berth-test-"));
  const driver = await processDriver({ directory, install: "one", network: "shared", runtimes, log: strictLog() });
  const wanted = testSpec(changes);
  onTestFinished(async () => {
    await expect.poll(() => driver.stop(wanted.id, 0).then(() => true, String), pollOptions).toBe(true);
    await rm(await socketFolder(directory), { recursive: true });
    await rm(directory, { recursive: true, force: true });
  });
  await driver.prepare("jupyter");
  await driver.start(wanted);
  await expect.poll(async () => (await driver.observe(wanted.id)).state, pollOptions).toBe("running");
  const ask = (method: string, path: string) => callLab(driver, wanted, method, path, pollOptions.timeout);
  await expect.poll(() => ask("GET", "/api/kernels"), pollOptions).toMatchObject({ status: 200 });
  const seen = await driver.observe(wanted.id);
  if (seen.state !== "running" || !("socketPath" in seen.endpoint)) throw new Error(`it is ${seen.state}`);
  const { endpoint } = seen;
  const dispatcher = new Agent({ connect: { socketPath: endpoint.socketPath } });
  /** Opens a WebSocket and sends one message; answers a function that closes it. */
  const say = async (path: string, message: unknown) => {
    const socket = new WebSocket(`ws://localhost${path}?token=${wanted.token}`, { dispatcher });
    await once(socket, "open");
    socket.send(JSON.stringify(message));
    return () => socket.close();
  };
  return {
    driver,
    wanted,
    endpoint,
    ask,
    say,
    quiet: () => jupyterIdleSeconds(endpoint, wanted.token),
    /** JupyterLab misses what a kernel says of its state before it listens, so it is asked until an answer was heard. */
    async startKernel(): Promise<string> {
      const { id } = (await ask("POST", "/api/kernels")).body as { id: string };
      const state = async () => {
        (await say(`/api/kernels/${id}/channels`, request("kernel_info_request", {})))();
        return (await ask("GET", `/api/kernels/${id}`)).body;
      };
      await expect.poll(state, pollOptions).toMatchObject({ execution_state: "idle" });
      return id;
    },
  };
}

const request = (type: string, content: object) => {
  const header = { msg_id: crypto.randomUUID(), msg_type: type, username: "", session: "s", version: "5.3", date: "" };
  return { channel: "shell", header, parent_header: {}, metadata: {}, content };
};

const cell = (code: string) =>
  request("execute_request", { code, silent: false, store_history: false, user_expressions: {}, allow_stdin: false });

test("JupyterLab reports the idle seconds of a running cell, a finished one and a terminal", async () => {
  const { ask, say, startKernel, quiet, driver, wanted, endpoint } = await jupyter();
  expect(await quiet(), "neither kernel nor terminal").toBeNull();
  await expect(jupyterIdleSeconds(endpoint, "another token")).rejects.toThrow("returned 403");

  const id = await startKernel();
  const close = await say(`/api/kernels/${id}/channels`, cell("while not __import__('os').path.exists('go'): pass"));
  await expect
    .poll(async () => (await ask("GET", `/api/kernels/${id}`)).body, pollOptions)
    .toMatchObject({
      execution_state: "busy",
    });
  const since = Date.now();
  // It says nothing while it computes, so the time since it last did is no answer.
  await expect.poll(() => Date.now() - since, pollOptions).toBeGreaterThan(700);
  expect(await quiet()).toBe(0);
  await callLab(driver, wanted, "PUT", "/api/contents/go", 5000, "");
  await expect.poll(quiet, pollOptions).toBeGreaterThan(1);
  close();

  await ask("POST", "/api/terminals");
  await expect.poll(quiet, pollOptions).toBeGreaterThan(1);
  const leave = await say("/terminals/websocket/1", ["stdin", "echo work\r"]);
  await expect.poll(quiet, pollOptions).toBeLessThan(0.7);
  leave();
}, 180_000);

test("a cell that only waits and a program in a terminal run; their end is told once, and idle shells run nothing (G360, G361)", async () => {
  const { db, rent, reach, read } = await setupEnvironments();
  const id = await rent({ subdomain: "my-lab" });
  await reach(id, "active");
  const { ask, say, startKernel, driver, wanted, endpoint } = await jupyter({ id });
  await sql`update environments set endpoint = ${JSON.stringify(endpoint)}, run_token = ${wanted.token}`.execute(db);
  await db.deleteFrom("notifications").execute();
  const kernel = await startKernel();
  await setDoneNotice(db, { id, userId: "user" }, "notify");
  // JupyterLab's own load at its start depends on the machine.
  const stats: typeof driver.stats = async (id) => ({ ...(await driver.stats(id)), cpuSeconds: 0 });
  const drivers = new Map([["host", { ...driver, stats }]]);
  const sampling = startSampling({ db, drivers, announce: writeOnly, log: strictLog(), intervalMs: 200 });
  onTestFinished(() => sampling.stop());
  const looks = async () => (await db.selectFrom("samples").select("looks").executeTakeFirst())?.looks ?? 0;
  const ran = () => expect.poll(async () => (await read(id)).done_ran, pollOptions);
  const quietSince = () => expect.poll(async () => (await read(id)).done_quiet_since, pollOptions);

  await ask("POST", "/api/terminals");
  const before = await looks();
  await expect.poll(looks, pollOptions).toBeGreaterThan(before + 3);
  await ran().toBe(false);
  const endWork = await say(
    `/api/kernels/${kernel}/channels`,
    cell("import os, time\nwhile not os.path.exists('go'): time.sleep(0.05)"),
  );
  const state = async () => (await ask("GET", `/api/kernels/${kernel}`)).body;
  await expect.poll(state, pollOptions).toMatchObject({ execution_state: "busy" });
  await ran().toBe(true);
  await quietSince().toBeNull();
  await callLab(driver, wanted, "PUT", "/api/contents/go", 5000, "");
  await quietSince().not.toBeNull();
  endWork();
  const leave = await say("/terminals/websocket/1", ["stdin", "sleep 1000\r"]);
  await quietSince().toBeNull();
  const interrupt = await say("/terminals/websocket/1", ["stdin", "\u0003"]);
  await quietSince().not.toBeNull();
  await sql`update environments set done_quiet_since = done_quiet_since - interval '31 seconds'`.execute(db);
  const titles = async () => (await db.selectFrom("notifications").select("title").execute()).map(({ title }) => title);
  await expect.poll(titles, pollOptions).toEqual(["Nothing runs any more in my-lab"]);
  leave();
  interrupt();
}, 240_000);

test("a response that is not JupyterLab's counts as work or an error, never as idle", async () => {
  const serving = async (answer: RequestListener) => {
    const server = createServer(answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return jupyterIdleSeconds({ host: "127.0.0.1", port: (server.address() as AddressInfo).port }, "token");
  };
  const said = (list: unknown) => serving((_, response) => void response.end(JSON.stringify(list)));
  const at = new Date(Date.now() - 600_000).toISOString();
  expect(await said([{ execution_state: "idle", last_activity: at }])).toBeCloseTo(600, -1);
  for (const one of [{}, { last_activity: "never" }, { execution_state: "dreaming", last_activity: at }])
    expect(await said([one]), JSON.stringify(one)).toBe(0);
  expect(await said([{ last_activity: new Date(Date.now() + 600_000).toISOString() }])).toBe(0);
  expect(await said([{ last_activity: "-271821-04-20T00:00:00Z" }])).toBe(maxIdleSeconds);
  await expect(said({ message: "no list" })).rejects.toThrow("without a list");
  await expect(serving((_, response) => void response.writeHead(500).end("[]"))).rejects.toThrow("500");
  await expect(serving((_, response) => void response.end("[{"))).rejects.toThrow();
  await expect(serving((request) => void request.destroy())).rejects.toThrow();
  const endless: RequestListener = (_, response) => {
    const more = () => {
      while (response.write("[".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  await expect(serving(endless)).rejects.toThrow("no end");
});
