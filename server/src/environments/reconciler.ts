import type { Changes } from "../database/changes.ts";
import type { Db } from "../database/database.ts";
import type { Driver } from "../drivers/driver.ts";
import { type Loop, startLoop } from "../loop.ts";
import { adopt } from "./adopt.ts";
import { claimDue, grantTime, makeDue, nextDueMs } from "./claims.ts";
import { type ReconcileParts, reconcile } from "./reconcile.ts";
import { settling } from "./record.ts";
import { keepHomes } from "./retention.ts";
import { steadyClock } from "./steady-clock.ts";

export type { Delivery } from "./effects.ts";
export type { Announce } from "./notices.ts";

export interface ReconcilerParts extends Omit<ReconcileParts, "settle"> {
  readonly changes: Changes;
  /** The machine's steady clock; a test gives another. */
  readonly uptimeSeconds?: () => number;
}

/** Rows worked on at once. */
const width = 20;
const intervalMs = 5000;
const adoptMs = 30_000;
const retentionMs = 10 * 60_000;

/**
 * The one loop that does every repair (runtime.md 1). A slow row does not hold up the others: the loop only hands out
 * claims, and each finished row asks for the next. Around it run the comparison with what the hosts have, and the
 * deletion of files that are no longer kept.
 */
export function startReconciler(parts: ReconcilerParts): Loop {
  const { db, changes, drivers, failed } = parts;
  const settle = settling(db);
  const hostIds = [...drivers.keys()];
  const clock = steadyClock(db, parts.uptimeSeconds);
  const working = new Set<Promise<void>>();

  let granted = false;
  async function handOut(): Promise<number> {
    if (!granted) await grantTime(db, hostIds);
    granted = true;
    const room = width - working.size;
    if (room === 0) return intervalMs;
    for (const row of await claimDue(db, hostIds, room, await clock.agrees())) {
      const work = reconcile({ ...parts, settle }, row)
        .catch(failed)
        .finally(() => {
          working.delete(work);
          loop.nudge();
        });
      working.add(work);
    }
    return working.size < width ? await nextDueMs(db, hostIds) : intervalMs;
  }

  const loop = startLoop(handOut, intervalMs, failed);
  // Neither removes anything while the clock is in doubt; what they throw then is the alarm.
  const sweep = (work: (parts: ReconcilerParts) => Promise<void>, sweepMs: number) =>
    startLoop(
      async () => {
        await clock.require();
        await work(parts);
        return sweepMs;
      },
      sweepMs,
      failed,
    );
  const keeping = sweep(keepHomes, retentionMs);
  const sweeps = [sweep(adopt, adoptMs), keeping];
  const unsubscribe = changes.subscribe(({ kind }) => {
    if (kind === "environment") loop.nudge();
    if (kind === "home") keeping.nudge();
  }, loop.nudge);
  const watching = new AbortController();
  const watchers = [...drivers.values()].map((driver) =>
    startWatching(db, driver, watching.signal, loop.nudge, failed),
  );
  return {
    nudge: loop.nudge,
    async stop() {
      unsubscribe();
      watching.abort();
      await Promise.all([loop, ...sweeps, ...watchers].map((each) => each.stop()));
      await Promise.all(working);
    },
  };
}

/** Driver events only wake the loop; the truth is `observe` and `list`. A stream that ends is opened again after 2 s. */
function startWatching(
  db: Db,
  driver: Driver,
  signal: AbortSignal,
  nudge: () => void,
  failed: (error: unknown) => void,
): Loop {
  return startLoop(
    async () => {
      if (signal.aborted) return 2000;
      for await (const id of driver.watch(signal)) {
        await makeDue(db, [id]);
        nudge();
      }
      return 2000;
    },
    2000,
    (error) => {
      if (!signal.aborted) failed(error);
    },
  );
}
