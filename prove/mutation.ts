import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../testing/environment.ts";
import { writeProof } from "./proof-page.ts";

const root = join(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/berth/stryker");
const version = "10.1.1";

/** Pure decisions in TypeScript, with the tests that should catch every change. */
const targets: Readonly<Record<string, readonly string[]>> = {
  "contract/src/catalogue/pricing.ts": ["contract/src/catalogue/pricing"],
  "server/src/environments/reconciler/plan.ts": ["server/src/environments/reconciler/plan"],
  "server/src/environments/leases/gpu-leases.ts": ["server/src/environments/allocation/hold"],
  "server/src/environments/allocation/hold.ts": ["server/src/environments/allocation/hold"],
  "server/src/payments/ledger/tax.ts": ["server/src/payments/ledger/tax"],
  "server/src/payments/orders/price-request.ts": ["server/src/payments/orders/price-request"],
  "server/src/payments/refunds/usage-of-order.ts": ["server/src/payments/refunds/take-back-hours"],
  "server/src/payments/settlement/settle-payment.ts": ["server/src/payments/settlement/settle-payment"],
};

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: { readonly line: number } };
}

/**
 * StrykerJS changes every operator, condition and block of the targets, one by one, and runs their tests: survivors are
 * untested code. It does not change SQL; `prove/mutants` does. Installed on first use, not a dependency.
 */
export async function proveMutation({ files }: { readonly files: readonly string[] }): Promise<void> {
  if (!existsSync(join(cache, "node_modules"))) install();
  const chosen = files.length > 0 ? files : Object.keys(targets);
  const rows = chosen.map((file) => {
    const mutants = mutate(file);
    const survivors = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage");
    for (const { mutatorName, replacement, location } of survivors)
      console.log(`${file}:${location.start.line} survives: ${mutatorName} ${replacement.slice(0, 100)}`);
    return `| \`${file}\` | ${mutants.length} | ${mutants.length - survivors.length} |`;
  });
  const table = `| File | Changes | Caught by a test |\n|---|---|---|\n${rows.join("\n")}`;
  console.log(table);
  if (files.length === 0) writeProof("mutation", `\`npm run prove -- mutation\`:\n\n${table}`);
}

function install(): void {
  mkdirSync(cache, { recursive: true });
  const packages = ["core", "vitest-runner"].map((name) => `@stryker-mutator/${name}@${version}`);
  // Without peers, so that it runs the project's own Vitest.
  const flags = ["--prefix", cache, "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
  spawnSync("npm", ["install", ...flags, ...packages], { stdio: "inherit" });
}

function mutate(file: string): readonly Mutant[] {
  const tests = (targets[file] ?? [file.replace(/\.ts$/, "")]).map((path) => `${path}.test.ts`);
  const vitest = join(cache, "vitest.config.mjs");
  const report = join(cache, "report.json");
  writeFileSync(
    vitest,
    `export default ${JSON.stringify({ test: { include: tests, globalSetup: ["server/src/database/testing-setup.ts"] } })};`,
  );
  const config = {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: vitest, related: false },
    mutate: [file],
    coverageAnalysis: "perTest",
    // Stryker's tsconfig reader needs an API that TypeScript 7 lacks.
    tsconfigFile: "none",
    tempDirName: join("node_modules/.cache/berth/stryker/copy"),
    concurrency: 2,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: report },
  };
  const configFile = join(cache, "stryker.config.json");
  writeFileSync(configFile, JSON.stringify(config));
  const program = join(cache, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const env = { ...environment.shell, RUNTIMES_DIR: environment.runtimesDir };
  spawnSync(process.execPath, [program, "run", configFile], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env,
  });
  const { files } = JSON.parse(readFileSync(report, "utf8"));
  return files[file].mutants;
}
