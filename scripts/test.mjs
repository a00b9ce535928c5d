// npm test: installs and builds everything, runs every suite, and ends with one line of totals.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTools, node, root } from "./setup.mjs";
import { checks } from "./tests/checks.mjs";
import { browserFailures } from "./tests/failures.mjs";
import { bin, runQuietly, runSideBySide, runStep } from "./tests/run-steps.mjs";
import { browserFiles, slowestFiles } from "./tests/slowest-files.mjs";

const total = { passed: 0, failed: 0, skipped: 0 };
const notes = [];
const files = [];
const reports = mkdtempSync(join(tmpdir(), "berth-reports-"));
// Tests share one prepared JupyterLab runtime; an installation has its own in its data folder.
process.env.RUNTIMES_DIR = join(root, "node_modules", ".cache", "berth", "runtimes");
process.env.PATH = `${join(root, "node_modules", ".bin")}:${process.env.PATH}`;

installTools();
const [hasImage] = await Promise.all([buildImage(), buildWeb(), installBrowser(), runChecks()]);

// Tests with this word in their path may run pods.
const ofPods = "kubernetes";
await vitest("unit and journey tests", ["--exclude", `**/*${ofPods}*/**`, "--exclude", `**/*${ofPods}*`]);
await check("crash, two kills at each point", ["prove/run.ts", "crash", "--rounds", "2"]);
await check("attacks that an audit showed", ["prove/run.ts", "hostile", "--quick"]);
await playwright("e2e in Chromium");
// One worker: without root the browser shares the machine's network, whose interfaces each start and stop of a container
// changes, and Chromium then aborts its requests (ERR_NETWORK_CHANGED, G371).
if (hasImage)
  await playwright("the first rental, in containers", ["first-rental", "--workers=1"], { RUNTIME: "docker" });
await pods();

rmSync(reports, { recursive: true, force: true });
console.log(`\n${slowestFiles(files).join("\n")}`);
console.log(`\n${notes.join("\n")}\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);

async function runChecks() {
  const failed = await runSideBySide(checks);
  total.passed += checks.length - failed.length;
  for (const name of failed) fail(name);
}

async function check(name, args) {
  if (await runStep({ name, command: node, args })) total.passed++;
  else fail(name);
}

async function vitest(name, args, env = {}) {
  const report = join(reports, `${name}.json`);
  const ok = await runStep({
    name,
    command: bin("vitest"),
    args: ["run", ...args],
    env: { ...env, VITEST_REPORT: report },
  });
  const { passed = 0, skipped = 0, failures = [], files: timed = [] } = read(report);
  total.passed += passed;
  total.skipped += skipped;
  files.push(...timed);
  if (!ok) fail(name, failures);
}

async function playwright(name, specs = [], env = {}) {
  const report = join(reports, `${name}.json`);
  const args = ["test", "--config", "e2e/playwright.config.ts", ...specs];
  const command = bin("playwright");
  const ok = await runStep({ name, command, args, env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report } });
  const { stats = {}, suites = [], errors = [] } = read(report);
  total.passed += stats.expected ?? 0;
  total.skipped += stats.skipped ?? 0;
  files.push(...browserFiles(suites));
  if (!ok) fail(name, browserFailures({ suites, errors }));
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

/** After everything else: a cluster takes much of a small machine. */
async function pods() {
  const cluster = await openCluster();
  await vitest("pods of a cluster", [ofPods], cluster);
  if (!cluster.TEST_KUBECONFIG) return;
  await playwright("the first rental, in pods", ["first-rental.spec", "--workers=1"], {
    ...cluster,
    RUNTIME: "kubernetes",
  });
}

/** TEST_KUBECONFIG, or what the program TEST_CLUSTER starts (CONTRIBUTING); without a cluster, tests of pods are skipped. */
async function openCluster() {
  const { TEST_KUBECONFIG, TEST_CLUSTER: program } = process.env;
  if (TEST_KUBECONFIG) return { TEST_KUBECONFIG };
  const up = { name: "cluster", command: program, args: ["up", "berth/jupyter:local"] };
  const isUp = program && hasImage && (await runStep(up));
  if (isUp) return { TEST_KUBECONFIG: spawnSync(program, ["kubeconfig"], { encoding: "utf8" }).stdout.trim() };
  const reason = program ? "none could be started: see above" : "neither TEST_CLUSTER nor TEST_KUBECONFIG names one";
  total.skipped++;
  notes.push(`skipped: pods of a cluster, because ${reason}`);
  console.log(`\n== ${notes.at(-1)}`);
  return { TEST_KUBECONFIG: "" };
}

/** Tests of containers need an engine; without one they are skipped with the reason in their titles. */
async function buildImage() {
  const step = { name: "image of JupyterLab", command: node, args: ["images/run.ts", "--quick", "jupyter"] };
  const { status, output } = await runQuietly(step);
  if (status === 0) return true;
  const isAbsent = status === 3;
  total[isAbsent ? "skipped" : "failed"]++;
  notes.push(`${isAbsent ? "skipped" : "failed"}: containers, because: ${output.trim().split("\n").at(-1)}`);
  return false;
}

async function buildWeb() {
  const program = 'import { buildWeb } from "./scripts/setup.mjs"; buildWeb();';
  const { status } = await runQuietly({
    name: "browser app",
    command: node,
    args: ["--input-type=module", "-e", program],
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** The npm package's browser needs system libraries, which the chromium package installs. */
async function installBrowser() {
  if (process.env.CHROMIUM) return;
  const { status } = spawnSync(node, ["testing/browser.ts"], { cwd: root, stdio: "ignore" });
  if (status === 0 || process.platform !== "linux" || process.getuid() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  const options = ["-y", "-qq", "--no-install-recommends"];
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [
    ["update", "-qq"],
    ["install", ...options, "chromium", "bubblewrap", "prometheus", "openssh-server", "rsync"],
  ])
    await runQuietly({ name: `apt-get ${args[0]}`, command: "apt-get", args, env });
}
