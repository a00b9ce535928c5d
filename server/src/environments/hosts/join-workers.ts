import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";

export interface WorkersDeps {
  readonly db: Db;
  /** `Driver.machineId` of the host `local`. */
  readonly machine: string;
  readonly log: Logger;
  /** Between two renewals. */
  readonly intervalMs?: number;
}

export interface Membership extends Pick<Loop, "stop"> {
  readonly id: string;
  /** Rejects when this worker was away and workers of another machine took over meanwhile. */
  readonly lost: Promise<never>;
}

/** A worker on another machine. */
interface Rival {
  readonly machine: string;
  readonly host_name: string;
  readonly seen_at: Date;
}

const usualMs = 15_000;
/** Four missed renewals. */
const staleSeconds = 60;
const lookMs = 1000;

/** A condition on rows of `workers`. */
export const isLiving = sql<boolean>`seen_at > now() - make_interval(secs => ${sql.lit(staleSeconds)})`;

/**
 * Registers this worker until it is stopped (G190). All workers of an installation must have the same machine as `local`, or
 * each would take the runs of the other for ended. Where a worker of another machine is registered, this waits until that
 * one is gone or silent for a minute, and throws `refused` once it shows that it lives.
 */
export async function joinWorkers({ db, machine, log, intervalMs = usualMs }: WorkersDeps): Promise<Membership> {
  const own = { id: newId(), machine, host_name: hostname() };
  const first = await join(db, own);
  if (first) {
    log.warn(
      { event: "worker.waits" },
      `waits up to a minute for the worker of another machine, on ${first.host_name}`,
    );
    await outlive(db, own, first);
  }
  const { promise: lost, reject } = Promise.withResolvers<never>();
  // Whoever waits for it gets the rejection.
  lost.catch(() => {});
  const loop = startInterval({
    name: "workers",
    work: async () => {
      const { rows } = await sql`update workers set seen_at = now() where id = ${own.id} returning id`.execute(db);
      const rival = rows.length > 0 ? undefined : await join(db, own);
      if (rival) reject(refusal(own, rival));
      return intervalMs;
    },
    intervalMs,
    log,
  });
  return {
    id: own.id,
    lost,
    async stop() {
      await loop.stop();
      // An unreachable database does not delay the shutdown: the row is stale after a minute.
      await db
        .deleteFrom("workers")
        .where("id", "=", own.id)
        .execute()
        .catch(() => {});
    },
  };
}

type Member = Pick<Rival, "machine" | "host_name"> & { readonly id: string };

/** Returns the newest worker of another machine, or registers this one. Serialised, so that two never both join. */
async function join(db: Db, own: Member): Promise<Rival | undefined> {
  return await db.transaction().execute(async (tx) => {
    await sql`lock table workers in share row exclusive mode`.execute(tx);
    await sql`delete from workers where not ${isLiving}`.execute(tx);
    const rivals = tx.selectFrom("workers").select(["machine", "host_name", "seen_at"]);
    const rival = await rivals
      .where("machine", "<>", own.machine)
      .orderBy("seen_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (!rival) await tx.insertInto("workers").values(own).execute();
    return rival;
  });
}

/** Joins when the others have ended. @throws DriverError once one of them renews its row */
async function outlive(db: Db, own: Member, first: Rival): Promise<void> {
  for (;;) {
    await sleep(lookMs);
    const rival = await join(db, own);
    if (!rival) return;
    if (rival.seen_at > first.seen_at) throw refusal(own, rival);
  }
}

function refusal(own: Member, rival: Rival): DriverError {
  return new DriverError(
    "refused",
    `A worker on ${rival.host_name} has another machine as the host local (${rival.machine}; here: ${own.machine}): each would take the other's environments for lost. Give all workers the same RUNTIME, engine and DATA_DIR, and add other machines with hosts add.`,
  );
}
