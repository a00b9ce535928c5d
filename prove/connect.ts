import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { until } from "../testing/customer.ts";
import { pythonTool } from "../testing/python-tool.ts";
import { outcomeOf } from "../testing/ssh-client.ts";
import { moveLargeFiles } from "./connect/large-files.ts";
import { openManyJumps } from "./connect/many-jumps.ts";
import { openPrograms } from "./connect/open-programs.ts";
import { useRemoteServer } from "./connect/remote-server.ts";
import { type Labs, setupLabs } from "./connect/setup-labs.ts";
import { openNotebook } from "./notebook.ts";
import { thisRun, writeProof } from "./proof-page.ts";

const labCount = 10;

/**
 * SSH and ports of real JupyterLabs as people use them: large files, 200 jumps at once, asyncssh, an editor's server, a gateway that
 * is killed, and TensorBoard, Gradio and Streamlit in a browser. `quick` moves files of 32 MB, and writes no page.
 */
export async function proveConnect({ quick }: { readonly quick: boolean }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const labs = await setupLabs(stack, labCount);
  const version = await useAsyncssh(labs);
  console.log(`asyncssh ${version}: a command, files and ports`);
  await useRemoteServer(labs);
  console.log("a server that outlives its connection, through a forwarded port");
  const jumps = await openManyJumps(labs);
  console.log(jumps);
  const againMs = await killGateway(labs);
  console.log(`the gateway killed; a session again after ${againMs.toFixed(0)} ms`);
  const programs = await openPrograms(labs);
  console.log(programs);
  const files = await moveLargeFiles(labs, quick ? 32 : 1024);
  if (!quick) writeProof("connect", pageOf({ version, jumps, againMs, programs, files }));
}

interface Found {
  readonly version: string;
  readonly jumps: Awaited<ReturnType<typeof openManyJumps>>;
  readonly againMs: number;
  readonly programs: readonly string[];
  readonly files: readonly string[];
}

function pageOf({ version, jumps, againMs, programs, files }: Found): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return `\`npm run prove -- connect\`: real JupyterLabs of the process driver, reached by OpenSSH with the config that the API answers. ${thisRun()}

- 1 GiB of random bytes in and back, each copy with the same SHA-256: ${files.join("; ")}.
- ${jumps.count} jumps of one account open at once, to ${labCount} environments, after ${seconds(jumps.openMs)} s; of ${jumps.answers} requests to a JupyterLab meanwhile none failed, and the slowest took ${seconds(jumps.longestMs)} s.
- asyncssh ${version}: a command with its exit code, SFTP, a port forwarded each way.
- A server started through a connection outlives it and is found by the next one through a forwarded port, as editors do it (a stand-in: their own servers are downloaded from their makers).
- The server killed (SIGKILL) with an open session: the client ends, a kernel keeps its variables, and a new session works ${seconds(againMs)} s after the kill, the start of the server among them.
- ${programs.join(", ")}, installed inside by pip and started as docs/use/ports.md says, used in a browser at their own addresses: WebSocket, event stream, and uploads of 5 MB.`;
}

async function useAsyncssh({ client }: Labs): Promise<string> {
  const python = join(pythonTool(["asyncssh==2.24.1"]), "python");
  const script = join(import.meta.dirname, "connect/asyncssh-client.py");
  const { stdout } = await promisify(execFile)(python, [script, client.config, client.host]);
  return stdout.trim();
}

/** Returns the time from the kill to the first command that works again. */
async function killGateway(labs: Labs): Promise<number> {
  const { client, addresses } = labs;
  const [address] = addresses;
  assert.ok(address);
  const before = await openNotebook(address);
  await before.run("kept = 41");
  const session = client.begin("ssh", ["-F", client.config, client.host, "echo up; sleep 600"]);
  let isUp = false;
  session.stdout?.on("data", () => {
    isUp = true;
  });
  await until("a session", async () => isUp);
  const ended = outcomeOf(session);
  const began = performance.now();
  const restarted = labs.restart();
  const { code } = await Promise.race([ended, sleep(30_000, { code: undefined })]);
  assert.equal(code, 255, "the client is told of the end");
  await restarted;
  await client.run("ssh", [client.host, "true"]);
  const againMs = performance.now() - began;
  const after = await openNotebook(address, before.kernel);
  assert.equal((await after.run("print(kept + 1)")).trim(), "42");
  after.close();
  return againMs;
}
