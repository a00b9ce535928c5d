import { containerTypes } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { type Driver, DriverError } from "../drivers/driver.ts";
import { type Loop, startLoop } from "../loop.ts";

const intervalMs = 10 * 60_000;
/** After a host that could not be reached. */
const retryMs = 5000;

/** Keeps every image startable on every host and says how far that is (runtime.md 4): a launch normally does not wait. */
export function startPreparing(db: Db, drivers: ReadonlyMap<string, Driver>, failed: (error: unknown) => void): Loop {
  const stopping = new AbortController();
  const parts = { db, failed, signal: stopping.signal };
  const loop = startLoop(
    async () => {
      const all = await Promise.all([...drivers].map(([hostId, driver]) => prepareHost(parts, hostId, driver)));
      return all.every(Boolean) ? intervalMs : retryMs;
    },
    intervalMs,
    failed,
  );
  return {
    nudge: loop.nudge,
    // A download may take minutes and nothing waits for it: from here on it only goes unreported.
    async stop() {
      stopping.abort();
      void loop.stop();
    },
  };
}

interface Parts {
  readonly db: Db;
  readonly failed: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** One type after the other; the first is the one that everybody launches first. */
async function prepareHost(parts: Parts, hostId: string, driver: Driver): Promise<boolean> {
  let reached = true;
  for (const type of containerTypes) {
    if (parts.signal.aborted) return reached;
    try {
      await prepareImage(parts, hostId, driver, type);
    } catch (error) {
      const absent = error instanceof DriverError && error.code === "no_image";
      if (!absent) parts.failed(error);
      const message = error instanceof DriverError ? error.message : "The image could not be prepared";
      await write(parts, hostId, type, { state: absent ? "unavailable" : "preparing", percent: null, message });
      reached &&= absent;
    }
  }
  return reached;
}

async function prepareImage(parts: Parts, hostId: string, driver: Driver, type: string): Promise<void> {
  await sql`
    insert into host_images (host_id, container_type, state) values (${hostId}, ${type}, 'preparing')
    on conflict do nothing`.execute(parts.db);
  let told = -1;
  let writes: Promise<void> = Promise.resolve();
  await driver.prepare(type, (percent) => {
    const whole = Math.floor(percent);
    if (whole <= told || whole >= 100) return;
    told = whole;
    writes = writes.then(() => write(parts, hostId, type, { state: "preparing", percent: whole, message: "" }));
    // Awaited below; without this an error that comes before that would count as unhandled.
    writes.catch(() => {});
  });
  await writes;
  await write(parts, hostId, type, { state: "ready", percent: null, message: "" });
}

interface Prepared {
  readonly state: "ready" | "preparing" | "unavailable";
  readonly percent: number | null;
  /** Why, in words for the person who chooses a type. */
  readonly message: string;
}

async function write(
  { db, signal }: Parts,
  host_id: string,
  container_type: string,
  prepared: Prepared,
): Promise<void> {
  if (signal.aborted) return;
  await db
    .insertInto("host_images")
    .values({ host_id, container_type, ...prepared })
    .onConflict((conflict) =>
      conflict.columns(["host_id", "container_type"]).doUpdateSet({ ...prepared, updated_at: sql`now()` }),
    )
    .execute();
}
