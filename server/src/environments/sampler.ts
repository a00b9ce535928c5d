import { setTimeout as wait } from "node:timers/promises";
import type { Db } from "../database/database.ts";
import { type Driver, DriverError, type Stats } from "../drivers/driver.ts";
import { type Loop, startLoop } from "../loop.ts";
import { eachOf } from "./each-of.ts";
import { tellOfFullHomes } from "./full-homes.ts";
import type { Announce } from "./notices.ts";
import { type Sample, writeSamples } from "./samples.ts";

export interface SamplingParts {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly announce: Announce;
  readonly failed: (error: unknown) => void;
  readonly intervalMs?: number;
  /** How long one look may take before the others no longer wait for it. */
  readonly patienceMs?: number;
}

/** What a run had used by a moment of the steady clock. */
interface Look {
  readonly stats: Stats;
  readonly atMs: number;
}

/** Asks what every active environment uses (runtime.md 10). One loop a host: a machine that hangs holds only itself. */
export function startSampling(parts: SamplingParts): Loop {
  const loops = [...parts.drivers].map(([hostId, driver]) => sampleHost(parts, hostId, driver));
  return {
    nudge() {
      for (const loop of loops) loop.nudge();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

function sampleHost(parts: SamplingParts, hostId: string, driver: Driver): Loop {
  const { db, announce, failed, intervalMs = 15_000, patienceMs = 5000 } = parts;
  const before = new Map<string, Look>();
  const asking = new Set<string>();

  async function look(id: string): Promise<Look> {
    asking.add(id);
    const answer = driver.stats(id).finally(() => asking.delete(id));
    // Heard here too: one that is late still fails, when nobody waits for it any more.
    answer.catch(() => {});
    const stats = await within(answer, patienceMs, id);
    return { stats, atMs: performance.now() };
  }

  return startLoop(
    async () => {
      const active = await activeOn(db, hostId);
      for (const id of before.keys()) if (!active.includes(id)) before.delete(id);
      const samples: Sample[] = [];
      const troubles: unknown[] = [];
      await eachOf(active, async (id) => {
        if (asking.has(id)) return;
        try {
          const now = await look(id);
          const last = before.get(id);
          before.set(id, now);
          if (last) samples.push(sampleOf(id, last, now));
        } catch (error) {
          if (!isGone(error)) troubles.push(error);
        }
      });
      await writeSamples(db, samples);
      await tellOfFullHomes(db, announce, samples);
      // One for all: an engine that is away would otherwise fill the log every 15 s.
      if (troubles.length > 0) failed(troubles[0]);
      return intervalMs;
    },
    intervalMs,
    failed,
  );
}

async function activeOn(db: Db, hostId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("environments")
    .select("id")
    .where("host_id", "=", hostId)
    .where("status", "=", "active")
    .execute();
  return rows.map(({ id }) => id);
}

async function within(answer: Promise<Stats>, ms: number, id: string): Promise<Stats> {
  const over = new AbortController();
  const late = wait(ms, undefined, { signal: over.signal }).then(() => {
    throw new DriverError("unavailable", `${id} did not say within ${ms} ms what it uses`);
  });
  late.catch(() => {});
  return await Promise.race([answer, late]).finally(() => over.abort());
}

/** It ended between the list and the look. */
function isGone(error: unknown): boolean {
  return error instanceof DriverError && error.code === "refused";
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
