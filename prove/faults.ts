import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeFolder, temporaryFolder } from "../testing/product.ts";
import { leaseFaults } from "./mutants/leases.ts";
import { orderFaults } from "./mutants/orders.ts";
import { providerFaults } from "./mutants/provider.ts";
import { lineFaults } from "./mutants/queue.ts";
import { refundFaults } from "./mutants/refunds.ts";
import { schemaFaults } from "./mutants/schema.ts";
import { writeProof } from "./proof-page.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Of a test run that hangs: no catch by itself, for nobody would have read its end. */
const longestMs = 300_000;
const leastCaught = 0.9;
/** Tests wait more than they work. */
const lanes = 2;

/** One wrong line of the product. `file` and `tests` are from the root; the nearest tests come first. */
export interface Mutant {
  readonly number: number;
  readonly file: string;
  readonly means: string;
  /** Occurs exactly once in the file. */
  readonly text: string;
  readonly instead: string;
  readonly tests: readonly string[];
  /** Part of the name of a test in them, which is asked first. */
  readonly seenBy: string | undefined;
}

/** What is asked once the nearest tests have seen nothing. */
const everyTest = ["payments", "environments", "billing/receipts", "account/account"].map(
  (each) => `server/src/${each}`,
);

const faults = [...orderFaults, ...providerFaults, ...refundFaults, ...leaseFaults, ...schemaFaults, ...lineFaults];

export function allFaults(): readonly Mutant[] {
  const rows = faults.flatMap(({ file, tests, rows }) =>
    rows.map(([means, text, instead, seenBy]) => ({ file, means, text, instead, seenBy, tests })),
  );
  return rows.map(({ file, tests, ...row }, index) => ({
    ...row,
    number: index + 1,
    file: `server/src/${file}`,
    tests: tests.map((each) => `server/src/${each}.test.ts`),
  }));
}

interface Result extends Mutant {
  /** The test that failed; undefined: none did. */
  readonly caughtBy: string | undefined;
}

/**
 * Plants one fault after the other in a copy of the tree and asks the tests (issue: mutation check). Only a test that
 * fails is a catch: a tree that does not load is a mistake of the table.
 */
export async function proveFaults({ only }: { only: readonly number[] }): Promise<void> {
  const all = allFaults();
  const mutants = only.length > 0 ? all.filter(({ number }) => only.includes(number)) : all;
  await withTree(async (folder) => {
    const broken = await failing(folder, [...new Set(mutants.flatMap(({ tests }) => tests))]);
    if (broken) throw new Error(`fails without any fault: ${broken}`);
  });
  const left = [...mutants];
  const results: Result[] = [];
  await Promise.all(Array.from({ length: lanes }, () => tryMutants(left, results)));
  const text = report(results.toSorted((a, b) => a.number - b.number));
  console.log(text);
  if (only.length > 0) return;
  writeProof("faults", text);
  const caught = results.filter(({ caughtBy }) => caughtBy).length;
  if (caught < leastCaught * results.length) throw new Error(`only ${caught} of ${results.length} were caught`);
}

/** In a tree of its own, until none is left. */
async function tryMutants(left: Mutant[], results: Result[]): Promise<void> {
  await withTree(async (folder) => {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const began = Date.now();
      const caughtBy = await plant(folder, fault);
      results.push({ ...fault, caughtBy });
      const seconds = ((Date.now() - began) / 1000).toFixed(0);
      const end = caughtBy ? `caught by "${caughtBy}"` : "SURVIVED";
      console.log(`${fault.number} ${lineOf(fault)}: ${end}, ${seconds} s`);
    }
  });
}

async function withTree(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = copyTree();
  try {
    await work(folder);
  } finally {
    removeFolder(folder);
  }
}

/** What git knows or would take up, so that work that is not committed is proved too. */
function copyTree(): string {
  const folder = temporaryFolder();
  const { stdout } = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const path of stdout.toString().split("\0").filter(Boolean)) {
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

async function plant(folder: string, { file, text, instead, tests, seenBy }: Mutant): Promise<string | undefined> {
  const path = join(folder, file);
  const whole = readFileSync(path, "utf8");
  if (whole.split(text).length !== 2) throw new Error(`${file} does not have exactly once: ${text}`);
  writeFileSync(
    path,
    whole.replace(text, () => instead),
  );
  try {
    const first = seenBy ? await failing(folder, tests, ["--testNamePattern", seenBy]) : undefined;
    return first ?? (await failing(folder, tests)) ?? (await failing(folder, everyTest));
  } finally {
    writeFileSync(path, whole);
  }
}

/** The first test that fails. Throws where the tests cannot even be loaded. */
async function failing(
  folder: string,
  tests: readonly string[],
  more: readonly string[] = [],
): Promise<string | undefined> {
  const outputFile = join(folder, "report.json");
  rmSync(outputFile, { force: true });
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const exclude = "**/embedded-gateway/**";
  const args = [
    "run",
    "--bail=1",
    "--maxWorkers=1",
    "--expect.poll.timeout=8000",
    "--reporter=json",
    `--outputFile=${outputFile}`,
    `--exclude=${exclude}`,
    ...more,
    ...tests,
  ];
  const child = spawn(process.execPath, [vitest, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const timer = setTimeout(() => child.kill("SIGTERM"), longestMs);
  await once(child, "exit");
  clearTimeout(timer);
  if (!existsSync(outputFile)) throw new Error(`the tests cannot be run:\n${output.slice(-4000)}`);
  const { success, testResults } = JSON.parse(readFileSync(outputFile, "utf8")) as Report;
  if (success) return undefined;
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === "failed");
  if (!failed) throw new Error(`no test failed, and yet:\n${JSON.stringify(testResults).slice(0, 4000)}`);
  return failed.title;
}

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

function lineOf({ file, means }: Mutant): string {
  return `${file.replace("server/src/", "")}: ${means}`;
}

function report(results: readonly Result[]): string {
  const survivors = results.filter(({ caughtBy }) => !caughtBy);
  const areas = Object.entries(Object.groupBy(results, ({ file }) => file)).map(([file, own = []]) => {
    const caught = own.filter(({ caughtBy }) => caughtBy).length;
    return `| ${file} | ${own.length} | ${caught} |`;
  });
  const list = survivors.length === 0 ? "None survived." : survivors.map((each) => `- ${lineOf(each)}`).join("\n");
  return `\`npm run prove -- faults\`: each fault of \`prove/mutants\` planted by itself in a copy of the tree, and the tests asked. ${results.length} planted, ${results.length - survivors.length} caught (${Math.floor(((results.length - survivors.length) * 100) / results.length)} %).

| File | Planted | Caught |
|---|---|---|
${areas.join("\n")}

Survivors:

${list}
`;
}
