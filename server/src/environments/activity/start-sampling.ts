import { setTimeout as wait } from "node:timers/promises";
import type { Loop } from "../../async/start-interval.ts";
import type { Db, RowOf } from "../../database/database.ts";
import { DriverError, type Stats } from "../../drivers/driver.ts";
import { tellOfFullHomes } from "../homes/notify-full-homes.ts";
import { eachHost, eachOf, forgetGone, type Host, type HostParts, isGone } from "../hosts/each-host.ts";
import type { Announce } from "../notice.ts";
import { isWorking, type Seen, writeActivity } from "./activity.ts";
import { quietSeconds } from "./jupyter-idle-seconds.ts";
import { type Sample, writeSamples } from "./samples.ts";

const usualMs = 15_000;

export interface SamplingParts extends HostParts {
  readonly announce: Announce;
  readonly intervalMs?: number;
  /** How long one look may take before the others no longer wait for it. */
  readonly patienceMs?: number;
}

/** What a run had used by a moment of the steady clock. */
interface Look {
  readonly stats: Stats;
  readonly atMs: number;
  /** See `quietSeconds`; 0 where JupyterLab does not answer. */
  readonly idleSeconds: number | null;
}

/** Of the first look at a run nothing follows yet. */
interface Found {
  readonly sample?: Sample;
  readonly seen?: Seen;
  readonly trouble?: unknown;
}

type Active = Pick<RowOf<"environments">, "id" | "endpoint" | "run_token">;

/** Asks what every active environment uses, and whether it is idle. */
export function startSampling(parts: SamplingParts): Loop {
  return eachHost(parts, parts.intervalMs ?? usualMs, (host) => sampleHost(parts, host));
}

function sampleHost(parts: SamplingParts, host: Host): () => Promise<number> {
  const { db, announce, failed, intervalMs = usualMs, patienceMs = 5000 } = parts;
  const { driver } = host;
  const before = new Map<string, Look>();
  const asking = new Set<string>();

  async function look(one: Active): Promise<Look> {
    const { id } = one;
    asking.add(id);
    const answer = driver.stats(id).finally(() => asking.delete(id));
    // Heard here too: one that is late still fails, when nobody waits for it any more.
    answer.catch(() => {});
    const idle = idleSecondsOf(one);
    const stats = await within(answer, patienceMs, id);
    const atMs = performance.now();
    return { stats, atMs, idleSeconds: await idle };
  }

  /** In doubt it works: nothing is stopped because it could not be seen. */
  async function find(one: Active): Promise<Found> {
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
      return isGone(trouble) ? {} : { seen: unseen, trouble };
    }
  }

  return async () => {
    const active = await activeOn(db, host.id);
    forgetGone(before, active);
    const found: Found[] = [];
    await eachOf(host, active, async (one) => void found.push(await find(one)));
    const samples = found.flatMap(({ sample }) => sample ?? []);
    await writeSamples(db, samples);
    await tellOfFullHomes(db, announce, samples);
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
  return await quietSeconds(endpoint, token).catch(() => 0);
}

async function within(answer: Promise<Stats>, ms: number, id: string): Promise<Stats> {
  const over = new AbortController();
  const late = wait(ms, undefined, { signal: over.signal }).then(() => {
    throw new DriverError("unavailable", `${id} did not say within ${ms} ms what it uses`);
  });
  late.catch(() => {});
  return await Promise.race([answer, late]).finally(() => over.abort());
}

/** A counter that went down is a process that ended, or another run: nothing is known to have been used then. */
function sampleOf(environmentId: string, last: Look, now: Look): Sample {
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
