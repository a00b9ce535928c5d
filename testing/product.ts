import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtServer } from "../server/src/testing/built-programs.ts";
import { environment } from "./environment.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Where programs of PostgreSQL are kept: a folder of prepared JupyterLabs that others share is only read. */
export const toolsDir = join(root, "node_modules", ".cache", "berth", "runtimes");
/** Shared by all test installations, so that JupyterLab is prepared once. */
export const runtimesDir = environment.runtimesDir ?? toolsDir;

export interface Product {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** The URL of an environment, without a path. */
  readonly environmentUrl: (subdomain: string) => string;
  /** The URL of an operator page, with the operator key. */
  readonly operatorPage: (path: string) => string;
  /** stdout and stderr so far. */
  readonly output: () => string;
  /** SIGTERM, and waits for the exit. Ends its environments too, which survive a real stop. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, and waits for the exit. Its database and environments survive until the next start. */
  readonly kill: () => Promise<void>;
}

export interface ProductOptions {
  readonly dataDir?: string;
  readonly port?: number;
  /** That of another checkout. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the limits of requests, orders and mails are the defaults. */
  readonly hasLimits?: boolean;
  /** A file to which its output is appended. */
  readonly log?: string;
  /** Words that run the command after them. */
  readonly launcher?: readonly string[];
}

/** Proofs would reach these limits. */
const lifted = {
  REQUESTS_PER_MINUTE: "1000000",
  ANONYMOUS_PER_MINUTE: "1000000",
  ORDERS_PER_MINUTE: "1000000",
  NEWCOMER_SHARE: "1",
  NETWORK_MAILS_PER_HOUR: "1000000",
  NETWORK_MAILS_PER_DAY: "1000000",
};

/** Starts the product as a process on a free port, by default with a temporary data folder. */
export async function startProduct({
  dataDir = temporaryFolder(),
  port = 0,
  env = {},
  program = builtServer,
  hasLimits = false,
  log,
  launcher = [],
}: ProductOptions = {}): Promise<Product> {
  // The limits of npm start.
  const limits = ["--min-semi-space-size=16", "--max-semi-space-size=16", "--max-old-space-size=1024"];
  const [command = "", ...words] = [...launcher, process.execPath, ...limits, program];
  const child = spawn(command, words, {
    cwd: root,
    env: {
      ...environment.shell,
      ENV_FILE: "",
      PORT: String(port),
      SSH_PORT: "off",
      DATA_DIR: dataDir,
      RUNTIMES_DIR: runtimesDir,
      LOG_LEVEL: "warn",
      ...environment.runtime,
      // CPU slots.
      SLOTS: "8",
      ...(!hasLimits && lifted),
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
    environmentUrl: (subdomain) => `http://${subdomain}.localhost:${new URL(url).port}`,
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

/** Kills the runs by the process table, because they survive their server by design. */
export function endRuns(dataDir: string): void {
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dataDir)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // The process has exited meanwhile.
    }
  }
}

/** Reads the installation id before the stop, because its database stops too; imports lazily, only with an engine. */
async function containersOf(product: Product): Promise<() => Promise<void>> {
  const { openProductDatabase } = await import("./seed.ts");
  const { removeRuns } = await import("../server/src/drivers/testing/docker-machine.ts");
  const { db, close } = await openProductDatabase(product);
  const { id } = await db.selectFrom("installation").select("id").executeTakeFirstOrThrow();
  await close();
  return () => removeRuns(id);
}

/** Waits for the product's "ready at" line. */
async function address(child: ChildProcess, output: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const check = () => {
    const found = /ready at (https?:\/\/\S+)/.exec(output())?.[1];
    if (found) resolve(found);
  };
  child.stdout?.on("data", check);
  child.once("exit", (code) => reject(new Error(`the product ended with ${code}:\n${output()}`)));
  return promise;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "berth-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
