import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import Docker from "dockerode";
import { killProcessesOf } from "../../testing/server-process.ts";

const run = promisify(execFile);

export async function whyNoSecondEngine(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may start a second Docker Engine";
  const found = await run("dockerd", ["--version"]).catch(() => undefined);
  return found ? undefined : "dockerd is not installed beside the engine";
}

/** Where and how it runs; by default on this machine, on its socket only. */
export interface Placing {
  /** A network namespace of `ip netns`, which stands for another machine with the usual bridge and firewall rules. */
  readonly space?: string;
  readonly options?: readonly string[];
  /** A folder of programs in front of PATH. */
  readonly path?: string;
  /** Called with its data folder before the first start. */
  readonly before?: (root: string) => Promise<void>;
}

/** An engine that a test may kill. Its runs survive, by `live-restore`. */
export async function openSecondEngine(placing: Placing = {}) {
  const folder = mkdtempSync(join(tmpdir(), "berth-engine-"));
  const socketPath = join(folder, "docker.sock");
  if (!placing.space) {
    await run("ip", ["link", "add", "name", bridgeOf(folder), "type", "bridge"]);
    await run("ip", ["address", "add", "10.214.0.1/24", "dev", bridgeOf(folder)]);
  }
  await placing.before?.(join(folder, "data"));
  let daemon = await startDaemon(folder, socketPath, placing);
  const sleeper = "berth/sleeper:local";
  await importSleeper(new Docker({ socketPath }), sleeper, folder);
  return {
    folder,
    socketPath,
    /** The reference of its only image, whose one program sleeps. */
    sleeper,
    async start() {
      daemon = await startDaemon(folder, socketPath, placing);
    },
    kill: () => end(daemon, "SIGKILL"),
    async close() {
      await end(daemon, "SIGTERM");
      killProcessesOf(folder);
      const mounts = readFileSync("/proc/mounts", "utf8")
        .split("\n")
        .map((line) => line.split(" ")[1] ?? "");
      for (const mount of mounts.filter((path) => path.startsWith(folder)).toReversed())
        await run("umount", ["-l", mount]);
      if (!placing.space) await run("ip", ["link", "delete", bridgeOf(folder)]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A bridge of its own: without one, or with the default one, it takes `docker0` from the engine of the machine. */
function bridgeOf(folder: string): string {
  return `bt-${basename(folder).slice(-6)}`;
}

/** Separate from the machine's own engine: folders, socket, addresses; and it writes no firewall rules here. */
async function startDaemon(folder: string, socketPath: string, placing: Placing): Promise<ChildProcess> {
  // Without an init process, pids of ended processes stay in use.
  for (const path of ["pid", "exec/containerd/containerd.pid"]) await rm(join(folder, path), { force: true });
  const places = [
    "--data-root",
    join(folder, "data"),
    "--exec-root",
    join(folder, "exec"),
    "--pidfile",
    join(folder, "pid"),
  ];
  const { space, options: more = [], path } = placing;
  const pool = ["--default-address-pool", "base=10.213.0.0/16,size=24"];
  const beside = [`--bridge=${bridgeOf(folder)}`, "--iptables=false", "--ip6tables=false"];
  const options = [...places, ...pool, ...(space ? [] : beside), ...more, "--live-restore"];
  const entered = space ? ["nsenter", `--net=/run/netns/${space}`] : [];
  const [program = "", ...words] = [...entered, "dockerd", "-H", `unix://${socketPath}`, ...options];
  const usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const daemon = spawn(program, words, { stdio: "ignore", ...(path && { env: { PATH: `${path}:${usual}` } }) });
  await untilItAnswers(new Docker({ socketPath }));
  return daemon;
}

/** Without Vitest, because proofs open engines too. */
async function untilItAnswers(engine: Docker): Promise<void> {
  for (const end = Date.now() + 30_000; ; await sleep(50)) {
    try {
      return void (await engine.ping());
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

async function end(daemon: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  daemon.kill(signal);
  await once(daemon, "exit");
}

/** Built from this machine's own `sleep`: two megabytes, and no image has to be copied. */
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
