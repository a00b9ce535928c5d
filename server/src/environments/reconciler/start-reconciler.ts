import { allLoops, type Loop, startInterval } from "../../async/start-interval.ts";
import type { Changes } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import { logError } from "../../logging/create-logger.ts";
import { applyRetention } from "../homes/apply-retention.ts";
import { eachHost, type Host } from "../hosts/each-host.ts";
import { openHostSlots } from "../hosts/host-slots.ts";
import { steadyClock } from "../time/steady-clock.ts";
import { makeWarmRunDue } from "../warm-pool/warm-runs.ts";
import { batchUnchanged } from "./batch-unchanged.ts";
import { type ReconcileDeps, reconcile } from "./reconcile.ts";
import { type InventoryDeps, startInventory } from "./reconcile-inventory.ts";
import { fetchEnvironments, grantTime, makeDue, nextEnvironmentMs } from "./work-lease.ts";

export type { Delivery } from "./status/on-status-change.ts";

export interface ReconcilerDeps extends Omit<ReconcileDeps, "writeUnchanged">, Pick<InventoryDeps, "checks"> {
  readonly changes: Changes;
  /** The machine's steady clock; a test gives another. */
  readonly uptimeSeconds?: () => number;
}

/** Rows worked on at the same time. */
const concurrency = 20;
const intervalMs = 5000;
const retentionMs = 10 * 60_000;
const reopenMs = 2000;
const gatherMs = 10;

/**
 * Starts the loop that does every repair (docs/internals/runtime.md), the inventory of the hosts and the retention of files.
 * A slow row does not delay the others: the loop only hands out rows, and each finished row triggers it.
 */
export function startReconciler(deps: ReconcilerDeps): Loop {
  const { db, changes, drivers, log } = deps;
  const writeUnchanged = batchUnchanged(db);
  const allHosts = [...drivers.keys()];
  const clock = steadyClock(db, deps.uptimeSeconds);
  const failed = logError(log, "environment.reconcile_failed");
  const slots = openHostSlots(allHosts, concurrency, { failed, freed: gather(() => loop.trigger()) });
  let granted = false;
  async function handOut(): Promise<number> {
    if (!granted) await grantTime(db, allHosts);
    granted = true;
    for (;;) {
      const { hostIds, limit } = slots.next();
      if (limit === 0) return intervalMs;
      const rows = await fetchEnvironments(db, hostIds, limit, await clock.agrees());
      for (const row of rows) slots.take(row.host_id, reconcile({ ...deps, writeUnchanged }, row));
      if (rows.length < limit) return await nextEnvironmentMs(db, hostIds);
    }
  }

  const loop = startInterval({ name: "reconciler", work: handOut, intervalMs, log });
  const retain = async () => {
    // Throws while the clock is unsure: nothing is deleted, and the error is the alarm.
    await clock.require();
    await applyRetention(deps);
    return retentionMs;
  };
  const retention = startInterval({ name: "retention", work: retain, intervalMs: retentionMs, log });
  const unsubscribe = changes.subscribe(({ kind }) => {
    if (kind === "environment") loop.trigger();
    if (kind === "home") retention.trigger();
  }, loop.trigger);
  const watching = eachHost("driver-events", deps, reopenMs, (host) => watchRuns(db, host, loop.trigger));
  const all = allLoops([loop, retention, startInventory({ ...deps, clock }), watching]);
  return {
    trigger: loop.trigger,
    async stop() {
      unsubscribe();
      await all.stop();
      await slots.ended();
    },
  };
}

/** Slots that are freed within a few milliseconds are given out together: one fetch for many rows, not one for each. */
function gather(trigger: () => void): (isIdle: boolean) => void {
  let isGathering = false;
  return (isIdle) => {
    if (isIdle) return trigger();
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      trigger();
    }, gatherMs);
  };
}

/** Driver events only trigger the loop, which reads `observe`. A stream that ends is opened again. */
function watchRuns(db: Db, { driver, signal }: Host, trigger: () => void): () => Promise<number> {
  return async () => {
    if (signal.aborted) return reopenMs;
    for await (const id of driver.watch(signal)) {
      await makeDue(db, [id]);
      await makeWarmRunDue(db, id);
      trigger();
    }
    return reopenMs;
  };
}
