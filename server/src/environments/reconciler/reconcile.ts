import { setTimeout as wait } from "node:timers/promises";
import { type LaunchStage, maxSessionHours } from "@berth/contract";
import { type Driver, DriverError, type Endpoint, type Observed } from "../../drivers/driver.ts";
import { keepIdleStop } from "../activity/idle-stop.ts";
import { backoffMs } from "../backoff-ms.ts";
import { isNoHome, recordMissingFiles, stopWithoutFiles } from "../homes/missing-files.ts";
import { announceExpiry, announceRollover, pendingNotice } from "../time/expiry-notices.ts";
import { rollSession } from "../time/run-sessions.ts";
import { leftoverProcesses } from "./leftover-processes.ts";
import { plan, shownStatus } from "./plan.ts";
import { beginRun, endedByItself, imageOf, seenState, specOf, waitsForGpus } from "./run-spec.ts";
import { abandon, type Claimed, renewClaim, renewMs } from "./work-lease.ts";
import { type Outcome, type RecordParts, record, recordFailure, unreachableAfter } from "./write-status.ts";

export interface ReconcileDeps extends RecordParts {
  readonly drivers: ReadonlyMap<string, Driver>;
  /** The gateway's own path: JupyterLab answers 200 through the forwarding code. */
  readonly isReady: (endpoint: Endpoint, runToken: string) => Promise<boolean>;
  readonly failed: (error: unknown) => void;
  /** How long what a killed program had on a GPU may take to go. */
  readonly leftoverMs?: number;
}

const settledMs = 20_000;
const workingMs = 100;
/** Of a run that has not answered for a minute. */
const slowMs = 1000;
const imageMs = 300;
const graceMs = 5000;
/** What stood ready has to answer within this time of its waking. */
const wakeMs = 1000;
const wakeLookMs = 20;

/** Brings one claimed row closer: look, one step outside any transaction, look again, record. */
export async function reconcile(parts: ReconcileDeps, row: Claimed): Promise<void> {
  const renewing = setInterval(() => void renewClaim(parts.db, row).catch(parts.failed), renewMs);
  try {
    const driver = parts.drivers.get(row.host_id);
    if (!driver) throw new Error(`no driver for host ${row.host_id}`);
    const found = await pass(parts, driver, row);
    if (!found) return await abandon(parts.db, row);
    const goneAtMs = performance.now();
    const residue = await leftoverProcesses(parts, driver, row, found.outcome.status);
    const goneSeconds = (performance.now() - goneAtMs) / 1000;
    const isWritten = await record(parts, found.row, { ...found.outcome, residue, goneSeconds });
    for (const [id, words] of isWritten ? residue : [])
      parts.failed(new Error(`ALARM: ${id} is put aside after ${row.id}: ${words}`));
    const { status, waitMs } = found.outcome;
    if (waitMs === settledMs && (status === "active" || status === "paused")) await keepTime(parts, row);
  } catch (error) {
    parts.failed(error);
    if (isNoHome(error)) await recordMissingFiles(parts, row, error);
    await recordFailure(parts.db, row, error);
  } finally {
    clearInterval(renewing);
  }
}

interface Found {
  readonly row: Claimed;
  readonly outcome: Outcome;
}

async function pass(parts: ReconcileDeps, driver: Driver, row: Claimed): Promise<Found | undefined> {
  const before = await driver.observe(row.id).catch((error) => unseen(row, error));
  if (row.warm && row.created_at === null && row.desired === "running") return await wake(parts, driver, row, before);
  if (endedByItself(row, before)) return { row, outcome: { ...afterLoss(row), ...ranBefore(row, before) } };
  const state = seenState(row, before);
  const { step } = plan[row.desired][state];
  if (step === "none" || step === "wait") return await found(parts, row, before);
  if (step === "start" && state !== "paused") return await startRun(parts, driver, row, before);
  if (step === "start") await driver.start(await specOf(parts.db, row));
  if (step === "pause") await driver.pause(row.id);
  if (step === "stop") await driver.stop(row.id, graceMs);
  if (step === "remove") await driver.remove(row.id);
  return await found(parts, row, await driver.observe(row.id));
}

/** Nobody waits for the run of a launch that is given up, or for its host: what may be there is removed when that is back. */
function unseen({ created_at, desired, attempts }: Claimed, error: unknown): Observed {
  const isAway = error instanceof DriverError && error.code === "unavailable" && attempts >= unreachableAfter;
  if (isAway && created_at === null && desired !== "running") return { state: "absent" };
  throw error;
}

/** What stood ready for this launch; one that has ended or does not answer makes way for a start like any other. */
async function wake(parts: ReconcileDeps, driver: Driver, row: Claimed, before: Observed): Promise<Found> {
  const cold = { row, outcome: { ...afterLoss(row), attempts: 0, waitMs: 0 } };
  if (before.state !== "paused" && before.state !== "running") return cold;
  try {
    await driver.start(await specOf(parts.db, row));
  } catch (error) {
    if (error instanceof DriverError && error.code !== "unavailable") return cold;
    throw error;
  }
  const end = performance.now() + wakeMs;
  const inTime: ReconcileDeps["isReady"] = (...asked) =>
    Promise.race([parts.isReady(...asked), wait(Math.max(0, end - performance.now()), false, { ref: false })]);
  do {
    const seen = await found({ ...parts, isReady: inTime }, row, await driver.observe(row.id));
    if (seen.outcome.status === "active") return seen;
    await wait(wakeLookMs);
  } while (performance.now() < end);
  return cold;
}

async function startRun(
  parts: ReconcileDeps,
  driver: Driver,
  row: Claimed,
  before: Observed,
): Promise<Found | undefined> {
  const outcome = await waitFirst(parts, row);
  if (outcome) return { row, outcome };
  const begun = await beginRun(parts.db, row, before);
  if (!begun) return undefined;
  try {
    await driver.start(await specOf(parts.db, begun));
  } catch (error) {
    // Nothing waits for files that are not there: its clock stands still, and its owner starts it when they are back.
    if (isNoHome(error) && (await stopWithoutFiles(parts, begun, error))) return undefined;
    throw error;
  }
  return await found(parts, begun, await driver.observe(row.id));
}

/** The run is gone and nobody asked: start again with the time left, at once the first time, then slower. */
function afterLoss(row: Claimed): Outcome {
  return {
    status: "pending",
    endpoint: null,
    stage: "placed",
    stagePercent: null,
    stamps: [],
    runOver: true,
    attempts: row.attempts + 1,
    waitMs: row.attempts === 0 ? 0 : backoffMs(row.attempts),
  };
}

/** What a run that has ended by itself says of its start, where nobody looked while it was there. */
function ranBefore(row: Claimed, observed: Observed): Partial<Outcome> {
  if (observed.state !== "stopped" || !observed.startedAt) return {};
  const { createdAt, startedAt } = observed;
  const stamps = [
    { stage: "created" as const, at: createdAt },
    { stage: "started" as const, at: startedAt },
  ];
  return { fault: false, startedAt, ...(row.stage === "created" && { stamps }) };
}

/** For the GPUs, where something stood ready on them, then for the image. */
async function waitFirst(parts: ReconcileDeps, row: Claimed): Promise<Outcome | undefined> {
  const outcome = { ...afterLoss(row), runOver: row.run_token !== null, attempts: 0, fault: true };
  if (await waitsForGpus(parts.db, row)) return { ...outcome, waitMs: workingMs };
  const image = await imageOf(parts.db, row);
  if (image?.state !== "preparing") return undefined;
  const stamps = row.stage === "image" ? [] : [{ stage: "placed" as const, at: undefined }];
  return { ...outcome, stage: "image", stagePercent: image.percent, stamps, waitMs: imageMs };
}

async function found(parts: ReconcileDeps, row: Claimed, observed: Observed): Promise<Found> {
  const state = seenState(row, observed);
  const endpoint = observed.state === "running" || observed.state === "paused" ? observed.endpoint : null;
  const isNew = row.status !== "active" && row.desired === "running" && state === "running";
  const answering = row.status === "active" || (isNew && endpoint !== null && (await answers(parts, endpoint, row)));
  const status = shownStatus(row, state, answering);
  const starting = row.desired === "running" && row.stage !== null;
  const reached = starting ? stagesOf(state, observed, answering) : [];
  const stage = starting ? nextStage(row, reached) : null;
  const startedAt = startOf(state, observed);
  const settled = plan[row.desired][state].step === "none" && (row.desired !== "running" || answering);
  return {
    row,
    outcome: {
      status,
      endpoint,
      stage,
      stagePercent: null,
      stamps: stage === row.stage ? [] : reached,
      runOver: false,
      // A start that has not answered yet keeps its count of failures, so that a run that always dies is tried ever slower.
      attempts: settled ? 0 : row.attempts,
      waitMs: settled ? settledMs : workingWaitMs(observed),
      ...(startedAt && { fault: false, startedAt }),
    },
  };
}

/** When the container of this row's run began; undefined where it has none that is there. */
function startOf(state: Observed["state"], observed: Observed): Date | undefined {
  return state === "stopped" || observed.state === "absent" ? undefined : observed.startedAt;
}

async function answers(parts: ReconcileDeps, endpoint: Endpoint, { run_token: token }: Claimed): Promise<boolean> {
  if (token === null) return false;
  return await parts.isReady(endpoint, token).catch(() => false);
}

/** The stages that an observation proves. */
function stagesOf(state: Observed["state"], observed: Observed, answering: boolean): Outcome["stamps"] {
  if (observed.state === "absent" || state === "stopped") return [];
  const created = { stage: "created" as const, at: observed.createdAt };
  if (state === "starting" && !observed.startedAt) return [created];
  const started = { stage: "started" as const, at: observed.startedAt };
  if (!answering) return [created, started];
  return [created, started, { stage: "answering", at: undefined }, { stage: "ready", at: undefined }];
}

function nextStage(row: Claimed, reached: Outcome["stamps"]): LaunchStage | null {
  const after = { created: "started", started: "answering", ready: null } as const;
  const last = reached.at(-1)?.stage;
  if (last === "created" || last === "started" || last === "ready") return after[last];
  return row.stage as LaunchStage | null;
}

function workingWaitMs(observed: Observed): number {
  if (observed.state === "absent") return workingMs;
  return Date.now() - observed.createdAt.getTime() > 60_000 ? slowMs : workingMs;
}

/**
 * Of a thousand that run hardly one has something to be told. The row itself says so, which spares five questions each;
 * near a threshold the database is asked, whose clock decides.
 */
async function keepTime({ db, announce }: ReconcileDeps, row: Claimed): Promise<void> {
  const now = Date.now();
  if (mayTell(row, now)) await announceExpiry(db, announce, row.id);
  if (row.idle_minutes !== null) await keepIdleStop(db, announce, row.id);
  if (row.created_at && now - row.created_at.getTime() < rollMs) return;
  await announceRollover(db, announce, row.id);
  await rollSession(db, row.id);
}

/** More than two machines' clocks differ by. */
const doubtSeconds = 300;
/** No session is older than its environment, and none is spoken of before a day from its end. */
const rollMs = (maxSessionHours - 24) * 3_600_000 - doubtSeconds * 1000;

function mayTell({ expires_at: end, notice }: Claimed, now: number): boolean {
  return !end || pendingNotice((end.getTime() - now) / 1000 - doubtSeconds, notice) !== undefined;
}
