import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { recipes } from "@berth/contract";
import { operatorCommand } from "../../text/operator-command.ts";
import { DriverError } from "../driver.ts";
import { findPython, type Python } from "./find-python.ts";
import { processRow } from "./process-table.ts";

/** A Python environment with JupyterLab. */
export interface Runtime {
  readonly folder: string;
  readonly python: Python;
}

/** The package lists and the last step are those of the images. */
const images = fileURLToPath(new URL("../../../../images", import.meta.url));

/** Prepared automatically; the others are gigabytes, so an operator prepares them (G101). */
const automaticType = "jupyter";

/** About the number of packages of a type, for the progress only. */
const packageCount = 97;

/** Written last: a folder without it was cut short, and is prepared again. */
const marker = "runtime.json";

/** Undefined when the type is not prepared here with this version's packages. */
export async function readRuntime(runtimes: string, type: string): Promise<Runtime | undefined> {
  try {
    const folder = await runtimeFolder(runtimes, type);
    return { folder, ...JSON.parse(await readFile(join(folder, marker), "utf8")) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * The name has a hash of the packages: an upgrade with other packages prepares a folder beside the one that runs still use.
 * The operator deletes old ones.
 */
async function runtimeFolder(runtimes: string, type: string): Promise<string> {
  const inputs = [readFile(requirementsOf(type)), readFile(lastStep)];
  const hash = createHash("sha256");
  for (const part of await Promise.all(inputs)) hash.update(part);
  return join(runtimes, `${type}-${hash.digest("hex").slice(0, 8)}`);
}

const requirementsOf = (type: string) => join(images, "requirements", `${type}.lock`);
const lastStep = join(images, "finish.py");

/** Prepares a type below `runtimes`; returns at once when it is ready. Throws `no_image` for a type that needs `asked`. */
export async function prepareRuntime(
  runtimes: string,
  type: string,
  progress: (percent: number) => void,
  { asked = false }: { readonly asked?: boolean } = {},
): Promise<void> {
  if (await readRuntime(runtimes, type)) return progress(100);
  if (!recipes.includes(type) || !(asked || type === automaticType)) {
    throw new DriverError(
      "no_image",
      `Not prepared on this machine. The operator prepares it with: ${operatorCommand(`prepare ${type}`)}`,
    );
  }
  await mkdir(runtimes, { recursive: true });
  const folder = await runtimeFolder(runtimes, type);
  const unlock = await lock(`${folder}.lock`);
  try {
    if (!(await readRuntime(runtimes, type))) await build(folder, requirementsOf(type), progress);
  } finally {
    await unlock();
  }
  progress(100);
}

/** `requirements` has each package's version and its hashes for every platform: nothing else is installed. */
async function build(folder: string, requirements: string, progress: (percent: number) => void): Promise<void> {
  progress(0);
  const python = await findPython();
  await rm(folder, { recursive: true, force: true });
  progress(2);
  const own = join(folder, "bin", "python");
  const only = ["--only-binary", ":all:", "--require-hashes"];
  let packages = 0;
  const line = (text: string) => {
    // pip says Collecting and Downloading per package and then Installing once; uv is too quick to matter.
    if (/^\s*(Collecting|Downloading|Using cached) /.test(text))
      progress(10 + Math.min(60, (30 * ++packages) / packageCount));
    if (/^Installing collected/.test(text)) progress(72);
  };
  if (await works("uv", ["--version"])) {
    await command("uv", ["venv", "--quiet", "--seed", "--python", python.executable, folder]);
    progress(10);
    await command("uv", ["pip", "install", "--python", own, ...only, "-r", requirements], line);
  } else {
    await command(python.executable, ["-m", "venv", folder]);
    progress(10);
    const flags = ["--disable-pip-version-check", "--no-input", "--no-compile", "--progress-bar", "off"];
    await command(own, ["-m", "pip", "install", ...flags, ...only, "-r", requirements], line);
  }
  progress(85);
  await command(own, [lastStep]);
  const content = JSON.stringify({ python }, null, 2);
  await writeFile(join(folder, `${marker}.new`), content);
  await rename(join(folder, `${marker}.new`), join(folder, marker));
}

async function works(file: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(file, args, { stdio: "ignore" });
  try {
    const [code] = await once(child, "exit");
    return code === 0;
  } catch {
    return false;
  }
}

/** Throws `unavailable` with the last lines of output: a package index may be reachable again later. */
async function command(file: string, args: readonly string[], onLine?: (line: string) => void) {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
  const last: string[] = [];
  const read = async (stream: NodeJS.ReadableStream) => {
    for await (const line of createInterface({ input: stream })) {
      onLine?.(line);
      last.push(line);
      if (last.length > 6) last.shift();
    }
  };
  const [[code]] = await Promise.all([once(child, "exit"), read(child.stdout), read(child.stderr)]);
  if (code !== 0) {
    throw new DriverError(
      "unavailable",
      `Preparing JupyterLab failed: ${file} ${args[0]} ended with ${code}: ${last.join(" / ")}`,
    );
  }
}

/** A lock file for each folder, also between processes. The lock of an ended process is stale. */
async function lock(path: string): Promise<() => Promise<void>> {
  const own = JSON.stringify({ pid: process.pid, startedAt: (await processRow(process.pid))?.startedAt });
  for (;;) {
    try {
      await writeFile(path, own, { flag: "wx" });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (await isHeld(path)) await wait(250);
    else await rm(path, { force: true });
  }
}

async function isHeld(path: string): Promise<boolean> {
  try {
    const holder = JSON.parse(await readFile(path, "utf8"));
    // The pid is not enough: a server in a restarted container has the same one again.
    return (await processRow(holder.pid))?.startedAt === holder.startedAt;
  } catch {
    // Half-written: counts as held for a few seconds.
    const writtenAtMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    return Date.now() - writtenAtMs < 5_000;
  }
}
