import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeFolder, temporaryFolder } from "../testing/product.ts";
import { creditMutants } from "./mutants/credits.ts";
import { environmentMutants } from "./mutants/environments.ts";
import { leaseMutants } from "./mutants/leases.ts";
import { ledgerMutants } from "./mutants/ledger.ts";
import { orderMutants } from "./mutants/orders.ts";
import { providerMutants } from "./mutants/provider.ts";
import { queueMutants } from "./mutants/queue.ts";
import { refundMutants } from "./mutants/refunds.ts";
import { schemaMutants } from "./mutants/schema.ts";
import { writeProof } from "./proof-page.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Timeout of one test run. A timeout does not count as caught. */
const longestMs = 300_000;
const leastCaught = 0.9;
/** In parallel, because the tests mostly wait. */
const workers = 2;

/** One mutation of the product. `file` and `tests` are paths from the root; the nearest tests come first. */
export interface Mutant {
  readonly number: number;
  readonly file: string;
  readonly means: string;
  /** Occurs exactly once in the file. */
  readonly text: string;
  readonly instead: string;
  readonly tests: readonly string[];
  /** Part of the title of the test to run first. */
  readonly seenBy: string | undefined;
}

/** Run if the nearest tests pass. */
const everyTest = ["payments", "environments", "billing/receipts", "account/account"].map(
  (each) => `server/src/${each}`,
);

const tables = [
  ...orderMutants,
  ...providerMutants,
  ...refundMutants,
  ...ledgerMutants,
  ...leaseMutants,
  ...environmentMutants,
  ...schemaMutants,
  ...queueMutants,
  ...creditMutants,
];

export function allMutants(): readonly Mutant[] {
  const rows = tables.flatMap(({ file, tests, rows }) =>
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
  /** The test that failed; undefined if the mutant survived. */
  readonly caughtBy: string | undefined;
}

/**
 * Applies one mutant after the other to a copy of the tree and runs the tests. Only a failed test catches a mutant; a
 * tree that does not load is an error in the table.
 */
export async function proveFaults({ only }: { only: readonly number[] }): Promise<void> {
  const all = allMutants();
  const mutants = only.length > 0 ? all.filter(({ number }) => only.includes(number)) : all;
  await withTree(async (folder) => {
    const broken = await failing(folder, [...new Set(mutants.flatMap(({ tests }) => tests))]);
    if (broken) throw new Error(`fails without a mutant: ${broken}`);
  });
  const left = [...mutants];
  const results: Result[] = [];
  await Promise.all(Array.from({ length: workers }, () => tryMutants(left, results)));
  const text = report(results.toSorted((a, b) => a.number - b.number));
  console.log(text);
  if (only.length > 0) return;
  writeProof("faults", text);
  const caught = results.filter(({ caughtBy }) => caughtBy).length;
  if (caught < leastCaught * results.length) throw new Error(`only ${caught} of ${results.length} were caught`);
}

/** A worker with its own copy of the tree; takes mutants until none is left. */
async function tryMutants(left: Mutant[], results: Result[]): Promise<void> {
  await withTree(async (folder) => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const began = Date.now();
      const caughtBy = await apply(folder, mutant);
      results.push({ ...mutant, caughtBy });
      const seconds = ((Date.now() - began) / 1000).toFixed(0);
      const end = caughtBy ? `caught by "${caughtBy}"` : "SURVIVED";
      console.log(`${mutant.number} ${lineOf(mutant)}: ${end}, ${seconds} s`);
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

/** Tracked and untracked files, so that uncommitted work is included. */
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

async function apply(folder: string, { file, text, instead, tests, seenBy }: Mutant): Promise<string | undefined> {
  const path = join(folder, file);
  const whole = readFileSync(path, "utf8");
  if (whole.split(text).length !== 2) throw new Error(`${file} must contain exactly once: ${text}`);
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

/** The title of the first failed test. @throws if the tests cannot be loaded */
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
  if (!existsSync(outputFile)) throw new Error(`the tests did not run:\n${output.slice(-4000)}`);
  const { success, testResults } = JSON.parse(readFileSync(outputFile, "utf8")) as Report;
  if (success) return undefined;
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === "failed");
  if (!failed) throw new Error(`the run failed without a failed test:\n${JSON.stringify(testResults).slice(0, 4000)}`);
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
  return `\`npm run prove -- faults\`: each mutant of \`prove/mutants\` applied by itself to a copy of the tree, then the tests run. ${results.length} applied, ${results.length - survivors.length} caught (${Math.floor(((results.length - survivors.length) * 100) / results.length)} %).

| File | Applied | Caught |
|---|---|---|
${areas.join("\n")}

Survivors:

${list}
`;
}
