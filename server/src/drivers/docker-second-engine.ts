import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import Docker from "dockerode";
import { expect } from "vitest";
import { processesOf } from "../testing-process.ts";

const run = promisify(execFile);

export async function whyNoSecondEngine(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may start a second Docker Engine";
  const found = await run("dockerd", ["--version"]).catch(() => undefined);
  return found ? undefined : "dockerd is not installed beside the engine";
}

/** An engine that a test may kill. Its runs live on, as with `live-restore` they should. */
export async function openSecondEngine() {
  const folder = mkdtempSync(join(tmpdir(), "berth-engine-"));
  const socketPath = join(folder, "docker.sock");
  await run("ip", ["link", "add", "name", bridgeOf(folder), "type", "bridge"]);
  await run("ip", ["address", "add", "10.214.0.1/24", "dev", bridgeOf(folder)]);
  let daemon = await startDaemon(folder, socketPath);
  const sleeper = "berth/sleeper:local";
  await importSleeper(new Docker({ socketPath }), sleeper, folder);
  return {
    socketPath,
    /** The reference of its only image, whose one program waits. */
    sleeper,
    async start() {
      daemon = await startDaemon(folder, socketPath);
    },
    kill: () => end(daemon, "SIGKILL"),
    async close() {
      await end(daemon, "SIGTERM");
      for (const pid of processesOf(folder)) process.kill(pid, "SIGKILL");
      const mounts = readFileSync("/proc/mounts", "utf8")
        .split("\n")
        .map((line) => line.split(" ")[1] ?? "");
      for (const mount of mounts.filter((path) => path.startsWith(folder)).toReversed())
        await run("umount", ["-l", mount]);
      await run("ip", ["link", "delete", bridgeOf(folder)]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Of its own: an engine without one, or with the usual one, takes `docker0` from the engine of the machine. */
function bridgeOf(folder: string): string {
  return `bt-${basename(folder).slice(-6)}`;
}

/** Away from the machine's own engine in everything: folders, socket, addresses; and it writes no firewall rules. */
async function startDaemon(folder: string, socketPath: string): Promise<ChildProcess> {
  // Where nobody waits for orphans, the dead still look alive by their number.
  for (const path of ["pid", "exec/containerd/containerd.pid"]) await rm(join(folder, path), { force: true });
  const places = [
    "--data-root",
    join(folder, "data"),
    "--exec-root",
    join(folder, "exec"),
    "--pidfile",
    join(folder, "pid"),
  ];
  const addresses = [`--bridge=${bridgeOf(folder)}`, "--default-address-pool", "base=10.213.0.0/16,size=24"];
  const firewall = ["--iptables=false", "--ip6tables=false"];
  const options = [...places, ...addresses, ...firewall, "--live-restore"];
  const daemon = spawn("dockerd", ["-H", `unix://${socketPath}`, ...options], { stdio: "ignore" });
  const engine = new Docker({ socketPath });
  const answers = async () => (await engine.ping().catch(() => "no")).toString();
  await expect.poll(answers, { timeout: 15_000, interval: 50 }).toBe("OK");
  return daemon;
}

async function end(daemon: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  daemon.kill(signal);
  await once(daemon, "exit");
}

/** Made of this machine's own `sleep`, so that no other engine's image has to be carried over: two megabytes. */
async function importSleeper(engine: Docker, reference: string, folder: string): Promise<void> {
  const { stdout } = await run("ldd", ["/bin/sleep"]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path ?? "");
  const root = join(folder, "root");
  mkdirSync(join(root, "home/berth"), { recursive: true });
  for (const path of ["/bin/sleep", ...libraries]) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    await run("cp", ["-L", path, join(root, path)]);
  }
  const archive = join(folder, "root.tar");
  await run("tar", ["-C", root, "-cf", archive, "."]);
  const [repo, tag] = reference.split(":");
  const stream = await engine.importImage(archive, { repo, tag, changes: ['ENTRYPOINT ["/bin/sleep", "600"]'] });
  stream.resume();
  await once(stream, "end");
}
