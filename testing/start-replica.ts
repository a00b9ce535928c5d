import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { builtServer } from "../server/src/testing/built-programs.ts";
import { freePort } from "../server/src/testing/free-port.ts";
import { until } from "./customer.ts";
import { environment } from "./environment.ts";
import { temporaryFolder } from "./product.ts";

const root = join(import.meta.dirname, "..");

export interface Replica {
  readonly pid: number;
  /** 0 of a worker. */
  readonly port: number;
  readonly child: ChildProcess;
}

export interface ReplicaOptions {
  readonly databaseUrl: string;
  /** Of the fake driver. */
  readonly fake: string;
  /** By default that of the process itself. */
  readonly appUrl?: string;
  /** Every process that was started, for its end. */
  readonly started: ChildProcess[];
}

/** A process with one role on a database of its installation, ready. It has the limits of `npm start`. */
export async function startReplica(role: "worker" | "gateway", options: ReplicaOptions): Promise<Replica> {
  const port = role === "worker" ? 0 : await freePort();
  const { databaseUrl, fake, started, appUrl = `http://localhost:${port || 80}` } = options;
  const limits = ["--min-semi-space-size=16", "--max-semi-space-size=16", "--max-old-space-size=1024"];
  const child = spawn(process.execPath, [...limits, builtServer], {
    cwd: root,
    env: {
      ...environment.shell,
      ...{
        ENV_FILE: "",
        ROLES: role,
        PORT: String(port),
        SSH_PORT: "off",
        DATA_DIR: temporaryFolder(),
        DATABASE_URL: databaseUrl,
      },
      ...{ APP_URL: appUrl, IDENTITY_SECRET: "one secret for every process of this run" },
      ...{ RUNTIME: "fake", FAKE_DRIVER: fake, METRICS_PORT: "0", LOG_LEVEL: "warn" },
      // No provider: nothing is paid here.
      ...{ RAZORPAY_KEY_ID: "rzp_test_none", RAZORPAY_KEY_SECRET: "none", RAZORPAY_URL: "http://127.0.0.1:9/v1" },
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await until(`the ${role}`, async () => output.includes("is ready") || child.exitCode !== null, 120_000);
  if (child.exitCode !== null) throw new Error(`the ${role} ended with ${child.exitCode}: ${output}`);
  return { pid: Number(child.pid), port, child };
}

/** SIGTERM, and waits for the exit. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.kill("SIGTERM");
  await promise;
}
