import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { expect, inject, onTestFinished } from "vitest";
import type { Connection } from "../database/connection.ts";
import { memoryFolder } from "../database/testing/memory-folder.ts";
import { template } from "../database/testing-setup.ts";
import type { LogLine } from "../logging/testing/record-log.ts";
import { builtServer } from "./built-programs.ts";

/** Compile cache; halves the start time. */
const compiled = fileURLToPath(new URL("../../../node_modules/.cache/berth/compiled", import.meta.url));

/** A data folder; processes that still use it are killed at the end of the test. */
export function dataFolder(): string {
  const folder = memoryFolder("berth-main-");
  onTestFinished(() => {
    killProcessesOf(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

interface NewDatabase {
  readonly url: string;
  readonly connection: Connection;
}

/** A migrated database without rows, of this run's cluster, as a DATABASE_URL and for the test itself. */
export async function emptyDatabase(): Promise<NewDatabase> {
  return await createDatabase(`template ${template} strategy file_copy`);
}

/** The same without tables: what a restore takes, and what a first start migrates. */
export async function databaseWithoutTables(): Promise<NewDatabase> {
  return await createDatabase("");
}

async function createDatabase(options: string): Promise<NewDatabase> {
  const cluster = inject("cluster");
  const database = `d_${randomBytes(8).toString("hex")}`;
  const admin = new Client(cluster);
  await admin.connect();
  await admin.query(`create database ${database} ${options}`);
  await admin.end();
  const { user, password, host = "" } = cluster;
  const url = `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}`;
  return { url, connection: { ...cluster, database } };
}

/** The key in the URLs of the operator's pages. */
export function operatorKey(folder: string): string {
  return readFileSync(join(folder, "operator-key"), "utf8");
}

/** Also while some of them end by themselves. */
export function killProcessesOf(folder: string): void {
  for (const pid of processesOf(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** Pids of processes with the folder in their command line: its database, and a server with it as an argument. */
export function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => commandOf(pid).includes(folder))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Starts the real server as a process, without this one's environment variables. */
export function start(env: Record<string, string>, program = builtServer) {
  const settings = {
    PORT: "0",
    SSH_PORT: "off",
    RUNTIME: "fake",
    LOG_LEVEL: "warn",
    PATH: "/usr/local/bin:/usr/bin:/bin",
    ...env,
  };
  const child = spawn(process.execPath, [program], {
    env: { NODE_COMPILE_CACHE: compiled, ENV_FILE: "", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => (said.out += chunk));
  child.stderr.on("data", (chunk) => (said.err += chunk));
  const ended = ending(child);
  return {
    child,
    said,
    ended,
    /** Parsed lines of its log. */
    logged: (): LogLine[] => said.err.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : [])),
    /** Its URL, once it is ready. */
    async url() {
      const printed = () => /ready at (\S+)/.exec(said.out)?.[1];
      await Promise.race([expect.poll(printed, { timeout: 60_000, interval: 10 }).toMatch(/^http/), ended]);
      return printed() ?? expect.fail(`it exited: ${said.err}`);
    },
  };
}

async function ending(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, "close");
  return code;
}
