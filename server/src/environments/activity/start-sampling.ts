import { setTimeout as wait } from "node:timers/promises";
import type { Loop } from "../../async/start-interval.ts";
import type { Db, RowOf } from "../../database/database.ts";
import { DriverError, type Stats } from "../../drivers/driver.ts";
import { notifyFullHomes } from "../homes/notify-full-homes.ts";
import { dropEnded, eachHost, forEachConcurrently, type Host, type HostDeps, hasEnded } from "../hosts/each-host.ts";
import type { Announce } from "../notice.ts";
import { type ActivityReading, isWorking, writeActivity } from "./activity.ts";
import { jupyterIdleSeconds } from "./jupyter-idle-seconds.ts";
import { type Sample, writeSamples } from "./samples.ts";

const usualMs = 15_000;

export interface SamplingDeps extends HostDeps {
  readonly announce: Announce;
  readonly intervalMs?: number;
  /** How long one look may take before the others no longer wait for it. */
  readonly timeoutMs?: number;
}

/** What a run had used by a moment of the steady clock. */
interface Measurement {
  readonly stats: Stats;
  readonly atMs: number;
  /** See `quietSeconds`; 0 where JupyterLab does not answer. */
  readonly idleSeconds: number | null;
}

/** Of the first look at a run nothing follows yet. */
interface Reading {
  readonly sample?: Sample;
  readonly seen?: ActivityReading;
  readonly trouble?: unknown;
}

type Active = Pick<RowOf<"environments">, "id" | "endpoint" | "run_token">;

/** Asks what every active environment uses, and whether it is idle. */
export function startSampling(parts: SamplingDeps): Loop {
  return eachHost(parts, parts.intervalMs ?? usualMs, (host) => sampleHost(parts, host));
}

function sampleHost(parts: SamplingDeps, host: Host): () => Promise<number> {
  const { db, announce, failed, intervalMs = usualMs, timeoutMs = 5000 } = parts;
  const { driver } = host;
  const before = new Map<string, Measurement>();
  const asking = new Set<string>();

  async function look(one: Active): Promise<Measurement> {
    const { id } = one;
    asking.add(id);
    const answer = driver.stats(id).finally(() => asking.delete(id));
    // Heard here too: one that is late still fails, when nobody waits for it any more.
    answer.catch(() => {});
    const idle = idleSecondsOf(one);
    const stats = await withTimeout(answer, timeoutMs, id);
    const atMs = performance.now();
    return { stats, atMs, idleSeconds: await idle };
  }

  /** In doubt it works: nothing is stopped because it could not be seen. */
  async function find(one: Active): Promise<Reading> {
    const unseen = { environmentId: one.id, idleSeconds: 0 };
    if (asking.has(one.id)) return { seen: unseen };
    try {
      const now = await look(one);
      const last = before.get(one.id);
      before.set(one.id, now);
      if (!last) return {};
      const sample = sampleOf(one.id, last, now);
      const idleSeconds = isWorking(sample) ? 0 : now.idleSeconds;
      return { sample, seen: { environmentId: one.id, idleSeconds } };
    } catch (trouble) {
      return hasEnded(trouble) ? {} : { seen: unseen, trouble };
    }
  }

  return async () => {
    const active = await activeOn(db, host.id);
    dropEnded(before, active);
    const found: Reading[] = [];
    await forEachConcurrently(host, active, async (one) => void found.push(await find(one)));
    const samples = found.flatMap(({ sample }) => sample ?? []);
    await writeSamples(db, samples);
    await notifyFullHomes(db, announce, samples);
    await writeActivity(
      db,
      found.flatMap(({ seen }) => seen ?? []),
    );
    // One for all: an engine that is away would otherwise fill the log every 15 s.
    const { trouble } = found.find((each) => each.trouble !== undefined) ?? {};
    if (trouble !== undefined) failed(trouble);
    return intervalMs;
  };
}

async function activeOn(db: Db, hostId: string): Promise<Active[]> {
  return await db
    .selectFrom("environments")
    .select(["id", "endpoint", "run_token"])
    .where("host_id", "=", hostId)
    .where("status", "=", "active")
    .execute();
}

/** Who stopped JupyterLab, or keeps it too busy to answer, is not stopped for it: that is no failure of ours either. */
async function idleSecondsOf({ endpoint, run_token: token }: Active): Promise<number | null> {
  if (!endpoint || token === null) return 0;
  return await jupyterIdleSeconds(endpoint, token).catch(() => 0);
}

async function withTimeout(answer: Promise<Stats>, ms: number, id: string): Promise<Stats> {
  const over = new AbortController();
  const late = wait(ms, undefined, { signal: over.signal }).then(() => {
    throw new DriverError("unavailable", `${id} did not say within ${ms} ms what it uses`);
  });
  late.catch(() => {});
  return await Promise.race([answer, late]).finally(() => over.abort());
}

/** A counter that went down is a process that ended, or another run: nothing is known to have been used then. */
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
