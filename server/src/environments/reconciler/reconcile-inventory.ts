import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError, type Observed } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";
import { eachHost, type Host, type HostDeps } from "../hosts/each-host.ts";
import type { HostCheck } from "../hosts/host-check.ts";
import { markReachable, markUnreachable } from "../hosts/register-host.ts";
import { runIdOf } from "../run-id.ts";
import type { SteadyClock } from "../time/steady-clock.ts";
import { makeDue } from "./work-lease.ts";

export interface InventoryDeps extends HostDeps {
  readonly clock: Pick<SteadyClock, "require">;
  /** By host id; a host without one needs none. */
  readonly checks?: ReadonlyMap<string, HostCheck> | undefined;
}

const intervalMs = 30_000;
/** After a single failure the host stays open, but is checked again sooner. */
const unsureMs = 5000;
/** A younger run that the database does not know may belong to a launch that is just being written. */
const orphanMs = 10 * 60_000;

/**
 * Compares the runs on each host with the rows (docs/internals/runtime.md). A host that fails to respond twice in a row is
 * closed for leases until it responds, which is reported once.
 */
export function startInventory(deps: InventoryDeps): Loop {
  return eachHost("inventory", deps, intervalMs, (host) => inventoryOf(deps, host));
}

/** The pass for one host. It returns the milliseconds until the next. */
export function inventoryOf(deps: InventoryDeps, host: Host): () => Promise<number> {
  const { db, clock, checks } = deps;
  const check = checks?.get(host.id);
  let missed = 0;
  async function miss(error: DriverError): Promise<number> {
    missed += 1;
    if (missed === 1) return unsureMs;
    if (missed === 2) check?.repeat();
    if (await markUnreachable(db, host.id)) throw error;
    return intervalMs;
  }
  return async () => {
    const runs = await host.driver.list().catch(ofTheHost);
    if (runs instanceof DriverError) return await miss(runs);
    missed = 0;
    if (check?.isPassed() ?? true) await markReachable(db, host.id);
    const orphans = await compare(db, host, runs);
    // Throws while the clock is unsure: the error is the alarm.
    await clock.require();
    await removeAll(host, orphans);
    return intervalMs;
  };
}

async function removeAll({ driver, signal }: Host, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    if (!signal.aborted)
      await driver.remove(id).catch((error) => {
        // It ends when its machine is back; the others do not wait for that.
        if (!(error instanceof DriverError && error.code === "lost")) throw error;
      });
}

function ofTheHost(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  throw error;
}

/** Makes rows due that may differ, and returns the ids of orphans: runs that nobody wants. */
async function compare(db: Db, { id: hostId }: Host, runs: Awaited<ReturnType<Driver["list"]>>): Promise<string[]> {
  // Read before the environments: a warm run may become an environment in between, but never the reverse.
  const warm = await warmRunIds(db);
  const runIds = new Set(runs.map(({ id }) => id));
  const { rows } = await sql<Row>`
    select id, run_id, status, desired, generation, endpoint from environments
    where (host_id = ${hostId} and status <> 'terminated') or id = any(${[...runIds]}) or run_id = any(${[...runIds]})`.execute(
    db,
  );
  const byRun = new Map(rows.map((row) => [runIdOf(row), row]));
  const missing = rows.filter(
    (row) => !runIds.has(runIdOf(row)) && (row.status === "active" || row.status === "paused"),
  );
  const differing = runs.filter(({ id, observed }) => !isAsWritten(byRun.get(id), observed));
  await makeDue(db, [...differing.map(({ id }) => id), ...missing.map(runIdOf)]);
  const isOrphan = ({ id, observed }: (typeof runs)[number]) => {
    const row = byRun.get(id);
    return row ? row.status === "terminated" : !warm.has(id) && isOld(observed);
  };
  return runs.filter(isOrphan).map(({ id }) => id);
}

type Row = Pick<Environment, "id" | "run_id" | "status" | "desired" | "generation" | "endpoint">;

/** Whether a pass over the row would find nothing new: most runs, and with thousands of them that counts. */
function isAsWritten(row: Row | undefined, observed: Observed): boolean {
  if (row?.status === "paused") return observed.state === "paused" && row.desired === "paused";
  if (row?.status !== "active" || observed.state !== "running" || row.desired !== "running") return false;
  return observed.generation === row.generation && isDeepStrictEqual(observed.endpoint, row.endpoint);
}

async function warmRunIds(db: Db): Promise<ReadonlySet<string>> {
  return new Set((await db.selectFrom("warm_runs").select("id").execute()).map(({ id }) => id));
}

function isOld(observed: Observed): boolean {
  return observed.state !== "absent" && Date.now() - observed.createdAt.getTime() > orphanMs;
}
