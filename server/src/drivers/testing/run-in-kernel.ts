import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent, WebSocket } from "undici";
import { expect } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { callLab } from "./drive-run.ts";

const kernels = new Map<Spec, Promise<string>>();

/** Runs a script in the environment by way of a kernel, as its owner would; returns its output. `homes` has the run's home. */
export async function runInKernel(homes: string, wanted: Spec, by: Driver, script: string): Promise<string> {
  const home = join(homes, wanted.home);
  const runner = `import subprocess\nr = subprocess.run(["sh", "-c", ${JSON.stringify(script)}], capture_output=True, text=True)\nopen("out.new", "w").write(r.stdout + r.stderr)\nimport os\nos.rename("out.new", "out.txt")\n`;
  await rm(join(home, "out.txt"), { force: true });
  await writeFile(join(home, "run.py"), runner);
  const kernel = kernels.get(wanted) ?? startKernel(wanted, by);
  kernels.set(wanted, kernel);
  await execute(by, wanted, await kernel, "exec(open('run.py').read())");
  await expect.poll(() => existsSync(join(home, "out.txt")), { timeout: 15_000, interval: 20 }).toBe(true);
  return readFile(join(home, "out.txt"), "utf8");
}

export async function startKernel(wanted: Spec, by: Driver): Promise<string> {
  const { body } = await callLab(by, wanted, "POST", "/api/kernels", 15_000);
  return (body as { id: string }).id;
}

async function execute(by: Driver, wanted: Spec, kernel: string, code: string): Promise<void> {
  const seen = await by.observe(wanted.id);
  if (seen.state !== "running" || !("socketPath" in seen.endpoint)) throw new Error("not running");
  const dispatcher = new Agent({ connect: { socketPath: seen.endpoint.socketPath } });
  const socket = new WebSocket(`ws://localhost/api/kernels/${kernel}/channels?token=${wanted.token}`, { dispatcher });
  // A kernel ignores a message that equals an earlier one.
  const header = {
    msg_id: randomUUID(),
    msg_type: "execute_request",
    username: "",
    session: "s",
    version: "5.3",
    date: "",
  };
  const content = { code, silent: false, store_history: false, user_expressions: {}, allow_stdin: false };
  const message = { channel: "shell", header, parent_header: {}, metadata: {}, content };
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.addEventListener("open", () => socket.send(JSON.stringify(message)));
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string" && JSON.parse(data).msg_type === "execute_reply") resolve();
  });
  await promise;
  socket.close();
}
