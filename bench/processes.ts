import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../testing/cache-folder.ts";
import { type Product, type ProductOptions, removeFolder, startProduct } from "../testing/product.ts";
import type { Load, Reached } from "./gateway/load.ts";

const root = join(import.meta.dirname, "..");
const proxy = "configurable-http-proxy@5.3.0";

/** A product of its own, which ends with the stack. */
export async function openProduct(stack: AsyncDisposableStack, env: ProductOptions["env"] = {}): Promise<Product> {
  const product = await startProduct({ env });
  stack.defer(async () => {
    await product.stop();
    removeFolder(product.dataDir);
  });
  return product;
}

/** Runs the load generator in a process of its own, so that it shares no event loop with the proxies. */
export async function drive(load: Load): Promise<Reached> {
  const { stdout } = await promisify(execFile)(process.execPath, ["bench/gateway/load.ts", JSON.stringify(load)], {
    cwd: root,
  });
  return JSON.parse(stdout);
}

/** Installs configurable-http-proxy into the cache once; returns the path of its script. */
export function installProxy(): string {
  const prefix = join(cacheFolder, "chp");
  const script = join(prefix, "node_modules/configurable-http-proxy/bin/configurable-http-proxy");
  if (!existsSync(script)) {
    mkdirSync(prefix, { recursive: true });
    execFileSync(
      "npm",
      ["install", "--prefix", prefix, "--no-save", "--no-audit", "--no-fund", "--loglevel=error", proxy],
      {
        stdio: "inherit",
      },
    );
  }
  return script;
}

export function spawnNode(started: ChildProcess[], args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  return child;
}

export function firstLine(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
  child.once("exit", (code) => reject(new Error(`a process ended with ${code} before it was ready`)));
  return promise;
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

/** User and system time of a process; NaN without /proc. A tick is 10 ms. */
export function cpuMs(pid: number | undefined): number {
  if (pid === undefined || !existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory in MB (2^20 bytes). */
export function memoryMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
