import type { Loop } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError, type Observed } from "../../drivers/driver.ts";
import { eachHost, type Host, type HostDeps } from "../hosts/each-host.ts";
import type { HostCheck } from "../hosts/host-check.ts";
import { markReachable, markUnreachable } from "../hosts/register-host.ts";
import type { SteadyClock } from "../time/steady-clock.ts";
import { makeDue } from "./work-lease.ts";

export interface InventoryDeps extends HostDeps {
  readonly clock: Pick<SteadyClock, "require">;
  /** By host; those without one are fit. */
  readonly checks?: ReadonlyMap<string, HostCheck> | undefined;
}

const intervalMs = 30_000;
/** One look that fails may be chance: nothing is closed for it, but the next comes sooner. */
const unsureMs = 5000;
/** A run that the database does not know may be one whose launch is just being written. */
const orphanMs = 10 * 60_000;

/**
 * Compares what each host has with what the database wants (docs/internals/runtime.md). On a host that does not answer
 * twice in a row nothing new is leased until it answers, which is told once.
 */
export function startInventory(parts: InventoryDeps): Loop {
  return eachHost(parts, intervalMs, (host) => inventoryOf(parts, host));
}

/** The looks at one host, one for each call; answers when it wants the next, in milliseconds. */
export function inventoryOf(parts: InventoryDeps, host: Host): () => Promise<number> {
  const { db, clock, checks } = parts;
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
    const found = await host.driver.list().catch(ofTheHost);
    if (found instanceof DriverError) return await miss(found);
    missed = 0;
    if (check?.isPassed() ?? true) await markReachable(db, host.id);
    const strays = await compare(db, host, found);
    // What this throws is the alarm.
    await clock.require();
    await removeAll(host, strays);
    return intervalMs;
  };
}

async function removeAll({ driver, signal }: Host, ids: readonly string[]): Promise<void> {
  for (const id of ids) if (!signal.aborted) await driver.remove(id);
}

function ofTheHost(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  throw error;
}

/** Makes due whatever may differ, and answers the runs that nobody wants. */
async function compare(db: Db, { id: hostId }: Host, found: Awaited<ReturnType<Driver["list"]>>): Promise<string[]> {
  // Before the environments are read: one that stands ready now may be an environment by then, but never the other way.
  const warm = new Set((await db.selectFrom("warm_runs").select("id").execute()).map(({ id }) => id));
  const rows = await db
    .selectFrom("environments")
    .where((where) =>
      where.or([
        where.and([where("host_id", "=", hostId), where("status", "!=", "terminated")]),
        where("id", "in", ["", ...found.map(({ id }) => id)]),
      ]),
    )
    .select(["id", "status"])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const foundIds = new Set(found.map(({ id }) => id));
  const differing = rows.filter(({ id, status }) => !foundIds.has(id) && (status === "active" || status === "paused"));
  await makeDue(db, [...foundIds, ...differing.map(({ id }) => id)]);
  const isStray = ({ id, observed }: (typeof found)[number]) => {
    const row = byId.get(id);
    return row ? row.status === "terminated" : !warm.has(id) && isOld(observed);
  };
  return found.filter(isStray).map(({ id }) => id);
}

function isOld(observed: Observed): boolean {
  return observed.state !== "absent" && Date.now() - observed.createdAt.getTime() > orphanMs;
}
