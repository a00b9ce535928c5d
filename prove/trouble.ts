import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../testing/customer.ts";
import { writeProof } from "./proof-page.ts";
import { type Installation, openInstallation } from "./trouble/installation.ts";
import { whyNoPrometheus } from "./trouble/prometheus.ts";
import { type Trouble, troubles } from "./trouble/troubles.ts";

/** A host's own check runs every 30 seconds, that of images every minute. */
const limitMs = 240_000;

/**
 * Plants each fault that an operator meets in a running product: its alerts must fire in a real Prometheus, doctor and console
 * must name it, and all three must fall silent after the cure, without a restart. `only` numbers faults, from 0 on.
 */
export async function proveTrouble({ only }: { only: readonly number[] }): Promise<void> {
  const absent = whyNoPrometheus();
  if (absent !== undefined) return console.log(`Skipped: ${absent}.`);
  await using stack = new AsyncDisposableStack();
  // An engine, a network and a disk would stay behind.
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(signal, () => void stack.disposeAsync().then(() => process.exit(1)));
  const around = await openInstallation(stack);
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const [index, trouble] of troubles.entries()) {
    if (only.length > 0 && !only.includes(index)) continue;
    const reason = trouble.absent?.(around);
    if (reason !== undefined) console.log(`${trouble.what}: skipped, ${reason}`);
    else
      await meet(around, trouble).then(
        (row) => rows.push(row),
        (error: Error) => failed.push(error.message),
      );
  }
  around.isAlive();
  console.table(rows);
  // The others were looked at all the same: a run takes a quarter of an hour.
  if (failed.length > 0) throw new Error(failed.join("\n"));
  if (only.length === 0) writeProof("trouble", pageOf(rows));
}

/** `named` and `gone` are seconds of alerts, doctor and console. */
interface Row {
  readonly fault: string;
  readonly alerts: string;
  readonly named: string;
  readonly gone: string;
}

async function meet(around: Installation, trouble: Trouble): Promise<Row> {
  const { what, alerts } = trouble;
  const observers = observersOf(around, trouble);
  const isQuiet = async () => (await Promise.all(observers.map((each) => each.isQuiet()))).every(Boolean);
  await until(`quiet before: ${what}`, isQuiet, limitMs);
  let from = 0;
  const named = await plantAndWatch(around, trouble, observers).finally(() => {
    from = Date.now();
    return trouble.cure(around);
  });
  const gone = await Promise.all(
    observers.map((each) => timed(`${each.name} after the end of: ${what}`, each.isQuiet, from)),
  );
  const row = { fault: what, alerts: alerts.join(", "), named: named.join(", "), gone: gone.join(", ") };
  console.log(JSON.stringify(row));
  return row;
}

async function plantAndWatch(
  around: Installation,
  trouble: Trouble,
  observers: readonly Observer[],
): Promise<readonly string[]> {
  const { what, plant, seconds = 0 } = trouble;
  const from = Date.now();
  await plant(around);
  const named = await Promise.all(observers.map(({ name, shows }) => timed(`${name}: ${what}`, shows, from)));
  await sleep(Math.max(0, seconds * 1000 - (Date.now() - from)));
  return named;
}

async function timed(what: string, poll: () => Promise<boolean>, fromMs: number): Promise<string> {
  const pollSlowly = async () => (await poll()) || (await sleep(1_000, false));
  await until(what, pollSlowly, limitMs);
  return ((Date.now() - fromMs) / 1000).toFixed(0);
}

/** Who is to see a fault. The console is asked to check again while the fault is looked for; its end shows by itself. */
interface Observer {
  readonly name: string;
  readonly shows: () => Promise<boolean>;
  readonly isQuiet: () => Promise<boolean>;
}

const outage = /database.*(does not answer|cannot be reached)/;

function observersOf({ alerts, doctor, console: screen, titles }: Installation, trouble: Trouble): readonly Observer[] {
  const { finding } = trouble;
  const isNamed = ({ found, refusal }: Awaited<ReturnType<Installation["doctor"]>>) =>
    finding ? found.has(finding) : outage.test(refusal);
  const title = finding && titles.get(finding);
  const isTitled = (texts: readonly string[]) => texts.some((text) => (finding ? text === title : outage.test(text)));
  const expected = async () => (await alerts()).filter((alert) => trouble.alerts.includes(alert));
  return [
    {
      name: "the alerts",
      shows: async () => (await expected()).length === trouble.alerts.length,
      isQuiet: async () => (await expected()).length === 0,
    },
    {
      name: "doctor",
      shows: async () => isNamed(await doctor()),
      isQuiet: async () => !isNamed(await doctor()),
    },
    {
      name: "the console",
      shows: async () => isTitled(await screen.checkAgain()),
      isQuiet: async () => !isTitled(await screen.now()),
    },
  ];
}

function pageOf(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ fault, alerts, named, gone }) => `| ${fault} | ${alerts.replaceAll(/\w+/g, "`$&`")} | ${named} | ${gone} |`,
  );
  const text =
    "`npm run prove -- trouble`: each fault is planted in a running product with a rental, a Docker host on another machine, its console, and a Prometheus that evaluates `deploy/alerts.yaml` over its `/metrics`, with seconds for the minutes that an alert waits. Seconds from the fault until all of its alerts fire, `doctor` names it and the console's Now names it; and from the cure until each of the three is silent, without a restart. While a fault is looked for the console is told to check again; its end shows by itself, because it checks again every half minute.";
  return [text, "", "| Fault | Alerts | Named after s | Silent after s |", "|---|---|---|---|", ...lines].join("\n");
}
