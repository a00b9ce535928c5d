import type { Loop } from "../../async/start-interval.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import type { RowOf } from "../../database/database.ts";
import { type Driver, DriverError, type RunProcess, type Stats } from "../../drivers/driver.ts";
import { notifyFullHomes } from "../homes/notify-full-homes.ts";
import { dropEnded, eachHost, forEachConcurrently, type Host, type HostDeps, hasEnded } from "../hosts/each-host.ts";
import { ownShare } from "../hosts/own-share.ts";
import type { Announce } from "../notice.ts";
import { runId } from "../run-id.ts";
import { type ActivityReading, isWorking, usesCpu, writeActivity } from "./activity.ts";
import { recordLook } from "./done-notice.ts";
import { type JupyterActivity, jupyterActivity } from "./jupyter-idle-seconds.ts";
import { lookAtRun } from "./look-at-run.ts";
import type { Look } from "./next-quiet.ts";
import { type Sample, writeSamples } from "./samples.ts";

const usualMs = 15_000;

export interface SamplingDeps extends HostDeps {
  readonly announce: Announce;
  readonly intervalMs?: number;
  /** How long one measurement may delay the others. */
  readonly timeoutMs?: number;
}

/** What a run had used at a moment of the steady clock. */
interface Measurement {
  readonly stats: Stats;
  readonly atMs: number;
  /** Undefined where JupyterLab does not respond. */
  readonly jupyter: JupyterActivity | undefined;
  /** Only of a run whose owner waits for its end, and where the machine lists them. */
  readonly processes: readonly RunProcess[] | undefined;
}

interface LastMeasurement extends Measurement {
  /** Since the measurement before it. */
  readonly usedCpu: boolean;
}

/** Empty after the first measurement of a run. */
interface Reading {
  readonly sample?: Sample;
  readonly activity?: ActivityReading;
  readonly failure?: unknown;
  /** Whether something runs in it. */
  readonly look?: Look;
}

type Columns = "id" | "generation" | "endpoint" | "run_token" | "done_notice";
type Active = Pick<RowOf<"environments">, Columns> & { readonly runId: string };

/** Measures what every active environment uses, and how long it has been idle. */
export function startSampling(deps: SamplingDeps): Loop {
  return eachHost("sampling", deps, deps.intervalMs ?? usualMs, (host) => sampleHost(deps, host));
}

/** State of the runs of one host, by environment id. */
interface HostRuns {
  readonly last: Map<string, LastMeasurement>;
  readonly inProgress: Set<string>;
}

function sampleHost(deps: SamplingDeps, host: Host): () => Promise<number> {
  const { db, announce, log, intervalMs = usualMs } = deps;
  const runs: HostRuns = { last: new Map(), inProgress: new Set() };
  return async () => {
    const active = await activeOn(deps, host.id);
    dropEnded(runs.last, active);
    const readings: Reading[] = [];
    await forEachConcurrently(host, active, async (run) => {
      const reading = await read(deps, host, runs, run);
      readings.push(reading);
      // At once, lest something begins between the look and the notice.
      if (run.done_notice === null) return;
      const look = { ...run, look: reading.look ?? ("unknown" as const) };
      await recordLook(db, announce, look).catch((failure) => void readings.push({ failure }));
    });
    const samples = readings.flatMap(({ sample }) => sample ?? []);
    await writeSamples(db, samples);
    await notifyFullHomes(db, announce, samples);
    const activity = readings.flatMap((reading) => reading.activity ?? []);
    await writeActivity(db, activity);
    // One for all: an unreachable engine would otherwise fill the log every 15 s.
    const { failure } = readings.find((reading) => reading.failure !== undefined) ?? {};
    if (failure !== undefined) log.warn({ event: "environment.not_measured", hostId: host.id, err: failure });
    return intervalMs;
  };
}

/** A run that cannot be measured counts as working: a failed measurement stops nothing. */
async function read(
  { timeoutMs = 5000 }: SamplingDeps,
  { driver }: Host,
  runs: HostRuns,
  run: Active,
): Promise<Reading> {
  const { id: environmentId } = run;
  const unsure = { environmentId, idleSeconds: 0 };
  if (runs.inProgress.has(environmentId)) return { activity: unsure };
  try {
    runs.inProgress.add(environmentId);
    const stats = driver.stats(run.runId).finally(() => runs.inProgress.delete(environmentId));
    const now = await measure(driver, run, stats, timeoutMs);
    const last = runs.last.get(environmentId);
    const sample = last && sampleOf(environmentId, last, now);
    runs.last.set(environmentId, { ...now, usedCpu: sample !== undefined && usesCpu(sample) });
    if (!sample) return {};
    const idleSeconds = isWorking(sample) || !now.jupyter ? 0 : now.jupyter.idleSeconds;
    const before = { usedCpu: last.usedCpu, lastCells: last.jupyter?.lastCells };
    return { sample, activity: { environmentId, idleSeconds }, look: lookAtRun({ ...now, sample, before }) };
  } catch (failure) {
    return hasEnded(failure) ? {} : { activity: unsure, failure };
  }
}

async function measure(driver: Driver, run: Active, usage: Promise<Stats>, timeoutMs: number): Promise<Measurement> {
  const jupyter = activityOf(run);
  const listed = run.done_notice ? driver.processes(run.runId).catch(() => undefined) : undefined;
  const stats = await withTimeout(usage, timeoutMs, () => {
    throw new DriverError("unavailable", `${run.id} did not report its usage within ${timeoutMs} ms`);
  });
  const atMs = performance.now();
  const processes = listed && (await withTimeout(listed, timeoutMs, () => undefined));
  return { stats, atMs, jupyter: await jupyter, processes };
}

async function activeOn({ db, workerId }: SamplingDeps, hostId: string): Promise<Active[]> {
  return await db
    .selectFrom("environments")
    .select(["id", "generation", "endpoint", "run_token", "done_notice", runId.as("runId")])
    .where("host_id", "=", hostId)
    .where("status", "=", "active")
    .where(ownShare(workerId))
    .execute();
}

/** A JupyterLab that was stopped, or is too busy to respond, is no failure. */
async function activityOf({ endpoint, run_token: token }: Active): Promise<JupyterActivity | undefined> {
  if (!endpoint || token === null) return undefined;
  return await jupyterActivity(endpoint, token).catch(() => undefined);
}

/** A counter that went down belongs to a new process or another run: the use in between is unknown and counts as 0. */
function sampleOf(environmentId: string, last: Measurement, now: Measurement): Sample {
  const seconds = Math.max(0.001, (now.atMs - last.atMs) / 1000);
  const rate = (of: (stats: Stats) => number) => Math.max(0, (of(now.stats) - of(last.stats)) / seconds);
  const { memoryMb, homeMb, gpus } = now.stats;
  const traffic = now.stats.receivedBytes !== null;
  return {
    environmentId,
    cpuCores: rate(({ cpuSeconds }) => cpuSeconds),
    memoryMb,
    homeMb,
    receivedBytesPerSecond: traffic ? rate(({ receivedBytes }) => receivedBytes ?? 0) : null,
    sentBytesPerSecond: traffic ? rate(({ sentBytes }) => sentBytes ?? 0) : null,
    gpus,
  };
}
