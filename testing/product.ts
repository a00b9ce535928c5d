import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environment } from "./environment.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Shared by every test installation, so that JupyterLab is prepared once. */
export const runtimesDir = environment.runtimesDir ?? join(root, "node_modules", ".cache", "berth", "runtimes");

export interface Product {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** The address of a page that is for the operator alone, with the key that opens it. */
  readonly operatorPage: (path: string) => string;
  /** What it has printed so far. */
  readonly output: () => string;
  /** SIGTERM, and waits for the end; its environments are ended too, which a real stop leaves running. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, and waits for the end; its database and environments live on until the next start. */
  readonly kill: () => Promise<void>;
}

interface Options {
  readonly dataDir?: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A file that gets all it prints, also after another start. */
  readonly log?: string;
}

/** Starts the real product as its own process on a free port, with a data folder of its own unless one is given. */
export async function startProduct({
  dataDir = temporaryFolder(),
  port = 0,
  env = {},
  log,
}: Options = {}): Promise<Product> {
  // As npm start does.
  const limits = ["--max-semi-space-size=16", "--max-old-space-size=1024"];
  const child = spawn(process.execPath, [...limits, join(root, "server/src/main.ts")], {
    cwd: root,
    env: {
      ...environment.shell,
      PORT: String(port),
      DATA_DIR: dataDir,
      RUNTIMES_DIR: runtimesDir,
      LOG_LEVEL: "warn",
      ...environment.runtime,
      // Small ones, that never use what a run may.
      SLOTS: "8",
      // A proof asks far more often than a person.
      REQUESTS_PER_MINUTE: "1000000",
      ANONYMOUS_PER_MINUTE: "1000000",
      ORDERS_PER_MINUTE: "1000000",
      NEWCOMER_SHARE: "1",
      NETWORK_MAILS_PER_HOUR: "1000000",
      NETWORK_MAILS_PER_DAY: "1000000",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
      if (log) appendFileSync(log, chunk);
    });
  const url = await address(child, () => output);
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  const product: Product = {
    url,
    port: Number(new URL(url).port),
    pid: Number(child.pid),
    dataDir,
    operatorPage: (path) => `${url}${path}?key=${readFileSync(join(dataDir, "operator-key"), "utf8")}`,
    output: () => output,
    async stop() {
      const endContainers = environment.runtime.RUNTIME === "docker" && (await containersOf(product));
      await end("SIGTERM");
      endRuns(dataDir);
      if (endContainers) await endContainers();
    },
    kill: () => end("SIGKILL"),
  };
  return product;
}

/** Runs survive their server by design, so a test ends them by the process table. */
function endRuns(dataDir: string): void {
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dataDir)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // Ended meanwhile.
    }
  }
}

/** Asked before the end of the product, which takes its database along. Both are read only where there is an engine. */
async function containersOf(product: Product): Promise<() => Promise<void>> {
  const { openProductDatabase } = await import("./seed.ts");
  const { removeRuns } = await import("../server/src/drivers/testing/docker-machine.ts");
  const { db, close } = await openProductDatabase(product);
  const { id } = await db.selectFrom("installation").select("id").executeTakeFirstOrThrow();
  await close();
  return () => removeRuns(id);
}

/** Waits for the one line that a started product prints. */
async function address(child: ChildProcess, output: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const look = () => {
    const found = /ready at (http:\/\/\S+)/.exec(output())?.[1];
    if (found) resolve(found);
  };
  child.stdout?.on("data", look);
  child.once("exit", (code) => reject(new Error(`the product ended with ${code}:\n${output()}`)));
  return promise;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "berth-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
