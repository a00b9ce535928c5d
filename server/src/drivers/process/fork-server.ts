import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "../../logging/create-logger.ts";
import { lab, pythonOf } from "./lab-command.ts";
import type { Runtime } from "./prepare-runtime.ts";

const program = readFileSync(new URL("fork_server.py", import.meta.url), "utf8");

/** By the runtime's folder. */
const sockets = new Map<string, Promise<string | undefined>>();

/**
 * The socket of this process's fork server for a runtime (ADR 3), which is started when it does not run. It ends with this
 * process, its runs do not. Undefined where it cannot start: a run then imports JupyterLab itself.
 */
export function forkServer(runtime: Runtime, log: Logger): Promise<string | undefined> {
  const known = sockets.get(runtime.folder);
  if (known) return known;
  const socket = start(runtime, log).then(({ path, ended }) => {
    void ended.then(() => sockets.delete(runtime.folder));
    return path;
  });
  sockets.set(runtime.folder, socket);
  return socket;
}

async function start(runtime: Runtime, log: Logger) {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "berth-fork-"));
  const socket = join(folder, "socket");
  const child = spawn(pythonOf(runtime), ["-I", "-c", program, lab, socket], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const ended = once(child, "exit").catch((error) => [error.message]);
  let output = "";
  child.stderr.on("data", (chunk) => {
    output = `${output}${chunk}`.slice(-1_000);
  });
  const isReady = await Promise.race([once(child.stdout, "data").then(() => true), ended.then(() => false)]);
  if (!isReady) log.warn({ event: "runtime.fork_server_failed", output, exit: (await ended)[0] });
  void ended.then(() => rm(folder, { recursive: true, force: true }));
  release(child);
  return { path: isReady ? socket : undefined, ended };
}

/** Lets this process end while the child runs. */
function release(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) (stream as Socket | null)?.unref();
}
