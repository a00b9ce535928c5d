// npm run bench -- all | NAME [--accept]: measures figures beside floors and peers of the same run, and compares them with
// bench/ledger.json. Ends with 1 where one is worse, misses what is promised, or is missing. --accept records them.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { writeDocs } from "../scripts/pages/generate-docs.ts";
import { benchesOfAll, inTimes, inUnit, type LedgerRow, ledgerPath, readLedger } from "../scripts/pages/ledger.ts";
import { commit, machine } from "../testing/this-run.ts";
import { type Figure, ratioOf, spreadOf } from "./figure.ts";
import { exitCode, type Finding, judgeFigures, record } from "./judge-figures.ts";
import { paceMs as measurePace } from "./machine-pace.ts";

const others = [
  "clone",
  "orders",
  "lighthouse",
  "launch-docker",
  "launch-kubernetes",
  "scale",
  "billing",
  "provider-limit",
  "paid-orders",
  "ssh",
] as const;
type Bench = (typeof benchesOfAll)[number] | (typeof others)[number];
/** More other work is said, and recorded. */
const busyShare = 0.1;

const [name = "", ...rest] = process.argv.slice(2);
const benches: readonly Bench[] =
  name === "all" ? benchesOfAll : [...benchesOfAll, ...others].filter((each) => each === name);
if (benches.length === 0) {
  console.error(`npm run bench -- all | ${[...benchesOfAll, ...others].join(" | ")} [--accept]`);
  process.exit(2);
}
const args = rest.filter((each) => each !== "--accept");
const date = new Date().toISOString().slice(0, 10);

let rows = readLedger();
let busyBefore = await isBusy();
const unquiet: Bench[] = [];
const findings: Finding[] = [];
for (const bench of benches) findings.push(...(await measured(bench)));
console.log(findings.length === 0 ? "\nas recorded, and as promised" : "");
if (unquiet.length > 0) console.log(`BUSY with other work before or after ${unquiet.join(", ")}: spreads are wide`);
for (const { kind, text } of findings) console.log(`${kind.toUpperCase()} ${text}`);
const isRecorded = rest.includes("--accept");
if (isRecorded) {
  writeFileSync(ledgerPath, `${JSON.stringify(rows, null, 2)}\n`);
  writeDocs();
}
process.exit(exitCode(findings, isRecorded));

/** Prints what one bench measures, and notes it in `rows`. */
async function measured(bench: Bench): Promise<Finding[]> {
  const own = rows.filter((row) => row.bench === bench);
  const began = performance.now();
  const failed: Finding[] = [];
  let figures: readonly Figure[] = [];
  const paceMs = measurePace();
  try {
    const { measure } = await import(`./${bench}.ts`);
    // One that found nothing is missing.
    figures = (await measure(args)).filter(({ samples }: Figure) => samples.length > 0);
  } catch (error) {
    console.error(error);
    failed.push({ kind: "missing", text: `${bench} failed: ${error instanceof Error ? error.message : error}` });
  }
  console.log(`\n${bench}, ${Math.round((performance.now() - began) / 1000)} s, pace ${paceMs} ms`);
  for (const figure of figures) console.log(lineOf(figure, own));
  const busyAfter = await isBusy();
  const busy = busyBefore || busyAfter;
  busyBefore = busyAfter;
  if (busy) unquiet.push(bench);
  rows = record(rows, bench, figures, { commit, date, machine, busy, paceMs });
  // Words after the name choose figures of that bench.
  const chosen = args.length === 0 ? own : own.filter((row) => figures.some((figure) => figure.name === row.figure));
  return [...failed, ...judgeFigures(chosen, figures, { machine, busy, paceMs })];
}

/** Whether other work takes more than `busyShare` of all processors, over three seconds in which this process only waits. */
async function isBusy(): Promise<boolean> {
  const read = () =>
    cpus().reduce(
      (sum, { times: { idle, ...work } }) => {
        const busy = Object.values(work).reduce((total, each) => total + each, 0);
        return { busy: sum.busy + busy, all: sum.all + busy + idle };
      },
      { busy: 0, all: 0 },
    );
  const before = read();
  await sleep(3000);
  const after = read();
  return (after.busy - before.busy) / (after.all - before.all) > busyShare;
}

function lineOf(figure: Figure, own: readonly LedgerRow[]): string {
  const { name, unit, samples, peer, beside = "its floor" } = figure;
  const ratio = ratioOf(figure);
  const { mid, low, high } = ratio ?? spreadOf(samples);
  const show = (value: number) => (ratio ? inTimes(value) : inUnit(value, unit));
  const last = own.find((row) => row.figure === name)?.last;
  const before = last?.ratio ?? (ratio ? undefined : last?.value);
  return [
    `  ${name.padEnd(52)} ${inUnit(spreadOf(samples).mid, unit).padStart(10)}`,
    ...(ratio && peer ? [`${beside} ${inUnit(spreadOf(peer).mid, unit)}: ${inTimes(mid)}`] : []),
    ...(low === high ? [] : [`${show(low)} to ${show(high)}`]),
    ...(before === undefined ? [] : [`before ${show(before)}`]),
  ].join("  ");
}
