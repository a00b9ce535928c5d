// npm test: installs and builds everything, runs every suite, and ends with one line of totals.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWeb, install, node, root } from "./setup.mjs";

const total = { passed: 0, failed: 0, skipped: 0 };
const notes = [];
const reports = mkdtempSync(join(tmpdir(), "berth-reports-"));
const bin = (name) => join(root, "node_modules", ".bin", name);
// Tests share one prepared JupyterLab runtime; an installation has its own in its data folder.
const env = {
  ...process.env,
  RUNTIMES_DIR: join(root, "node_modules", ".cache", "berth", "runtimes"),
  PATH: `${join(root, "node_modules", ".bin")}:${process.env.PATH}`,
};

install();
buildWeb();
installBrowser();
const hasImage = buildImage();

check("lockfile", node, ["scripts/check-lockfile.mjs"]);
check("coverage of the specification", node, ["scripts/check-coverage.mjs"]);
check("citations", node, ["scripts/check-citations.ts"]);
check("order of folders", node, ["scripts/check-layers.ts"]);
check("names and words", node, ["scripts/check-names.ts"]);
check("biome", bin("biome"), ["check", "--error-on-warnings", "."]);
check("types", bin("tsc"), ["-b"]);
check("unused", bin("knip"), []);
// Tests with this word in their path may run pods.
const ofPods = "kubernetes";
vitest("unit and journey tests", ["--exclude", `**/*${ofPods}*/**`, "--exclude", `**/*${ofPods}*`]);
check("crash, two kills at each point", node, ["prove/run.ts", "crash", "--rounds", "2"]);
check("attacks that an audit showed", node, ["prove/run.ts", "hostile", "--quick"]);
playwright("e2e in Chromium");
// One worker: starting or stopping a container changes the machine's network interfaces, and Chromium then aborts its
// requests (ERR_NETWORK_CHANGED).
if (hasImage) playwright("the first rental, in containers", ["first-rental", "--workers=1"], { RUNTIME: "docker" });
pods();

rmSync(reports, { recursive: true, force: true });
console.log(`\n${notes.join("\n")}\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);

function step(name, command, args, extra = {}) {
  console.log(`\n== ${name}`);
  const began = Date.now();
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", env: { ...env, ...extra } });
  if (error) console.error(error.message);
  console.log(`== ${name}: ${status === 0 ? "ok" : "failed"} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
  return status === 0;
}

function check(name, command, args) {
  if (step(name, command, args)) total.passed++;
  else fail(name);
}

function vitest(name, args, extra = {}) {
  const report = join(reports, `${name}.json`);
  const ok = step(name, bin("vitest"), ["run", ...args], { ...extra, VITEST_REPORT: report });
  const { passed = 0, skipped = 0, failures = [] } = read(report);
  total.passed += passed;
  total.skipped += skipped;
  if (!ok) fail(name, failures);
}

function playwright(name, files = [], extra = {}) {
  const report = join(reports, `${name}.json`);
  const args = ["test", "--config", "e2e/playwright.config.ts", ...files];
  const ok = step(name, bin("playwright"), args, { ...extra, PLAYWRIGHT_JSON_OUTPUT_NAME: report });
  const { stats = {}, suites = [] } = read(report);
  total.passed += stats.expected ?? 0;
  total.skipped += stats.skipped ?? 0;
  const failures = suites.flatMap((suite) => specs(suite)).filter((spec) => !spec.ok);
  const names = failures.map((spec) => `${spec.file}:${spec.line}: ${spec.title}`);
  if (!ok) fail(name, names);
}

function specs(suite) {
  return [...suite.specs, ...(suite.suites ?? []).flatMap(specs)];
}

/** Repeats failures at the end of the output; by the suite's name if its tests are unknown. */
function fail(suite, names = []) {
  const failed = names.length > 0 ? names : [suite];
  total.failed += failed.length;
  notes.push(...failed.map((name) => `failed: ${name}`));
}

function read(report) {
  return existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
}

/** After everything else and one by one: a cluster takes much of a small machine. */
function pods() {
  const cluster = openCluster();
  vitest("pods of a cluster", [ofPods, "--maxWorkers=1"], cluster);
  if (!cluster.TEST_KUBECONFIG) return;
  playwright("the first rental, in pods", ["first-rental.spec", "--workers=1"], { ...cluster, RUNTIME: "kubernetes" });
}

/** TEST_KUBECONFIG, or what the program TEST_CLUSTER starts (CONTRIBUTING); without a cluster, tests of pods are skipped. */
function openCluster() {
  const { TEST_KUBECONFIG, TEST_CLUSTER: program } = process.env;
  if (TEST_KUBECONFIG) return { TEST_KUBECONFIG };
  const isUp = program && hasImage && step("cluster", program, ["up", "berth/jupyter:local"]);
  if (isUp) return { TEST_KUBECONFIG: spawnSync(program, ["kubeconfig"], { encoding: "utf8" }).stdout.trim() };
  const reason = program ? "none could be started: see above" : "neither TEST_CLUSTER nor TEST_KUBECONFIG names one";
  total.skipped++;
  notes.push(`skipped: pods of a cluster, because ${reason}`);
  console.log(`\n== ${notes.at(-1)}`);
  return { TEST_KUBECONFIG: "" };
}

/** Tests of containers need an engine; without one they are skipped with the reason in their titles. */
function buildImage() {
  console.log("\n== image of JupyterLab");
  const { status, stderr } = spawnSync(node, ["images/run.ts", "--quick", "jupyter"], {
    cwd: root,
    stdio: ["ignore", "inherit", "pipe"],
    encoding: "utf8",
    env,
  });
  if (status === 0) return true;
  const isAbsent = status === 3;
  total[isAbsent ? "skipped" : "failed"]++;
  notes.push(`${isAbsent ? "skipped" : "failed"}: containers, because: ${stderr.trim()}`);
  console.log(`== ${notes.at(-1)}`);
  return false;
}

/** The npm package's browser needs system libraries, which the chromium package installs. */
function installBrowser() {
  if (process.env.CHROMIUM) return;
  const { status } = spawnSync(node, ["testing/browser.ts"], { cwd: root, stdio: "ignore" });
  if (status === 0 || process.platform !== "linux" || process.getuid() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.log("Installing Chromium, bubblewrap and Prometheus...");
  spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit" });
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium", "bubblewrap", "prometheus"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}
