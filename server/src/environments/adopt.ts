import type { Db } from "../database/database.ts";
import { type Driver, DriverError } from "../drivers/driver.ts";
import { makeDue } from "./claims.ts";
import { markAway, markHere } from "./hosts.ts";

interface AdoptParts {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly failed: (error: unknown) => void;
}

/** A run that the database does not know may be one whose launch is just being written. */
const strangerMs = 10 * 60_000;

/**
 * Compares what each host has with what the database wants (runtime.md 2). A host out of reach stops only its own part,
 * and nothing new is leased on it from then on until it answers; that is told once.
 */
export async function adopt({ db, drivers, failed }: AdoptParts): Promise<void> {
  await Promise.all([...drivers].map(([hostId, driver]) => adoptHost(db, hostId, driver).catch(failed)));
}

async function adoptHost(db: Db, hostId: string, driver: Driver): Promise<void> {
  const found = await listed(db, hostId, driver);
  if (!found) return;
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
    .select(["id", "status", "desired", "endpoint", "generation"])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const foundIds = new Set(found.map(({ id }) => id));
  const differing = rows.filter(({ id, status }) => !foundIds.has(id) && (status === "active" || status === "paused"));
  await makeDue(db, [...found.map(({ id }) => id), ...differing.map(({ id }) => id)]);
  for (const { id, observed } of found) {
    const row = byId.get(id);
    if (row ? row.status === "terminated" : !warm.has(id) && isOld(observed)) await driver.remove(id);
  }
}

async function listed(db: Db, hostId: string, driver: Driver) {
  try {
    const found = await driver.list();
    await markHere(db, hostId);
    return found;
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    if (await markAway(db, hostId)) throw error;
    return undefined;
  }
}

function isOld(observed: Awaited<ReturnType<Driver["observe"]>>): boolean {
  return observed.state !== "absent" && Date.now() - observed.createdAt.getTime() > strangerMs;
}
