import { sql } from "kysely";
import type { Db } from "../../../database/database.ts";
import { finish, inMs } from "../../../database/work-queue.ts";
import { DriverError, type Observed } from "../../../drivers/driver.ts";
import type { Logger } from "../../../logging/create-logger.ts";
import { type Announce, instant } from "../../notice.ts";
import { environmentQueue, type LeasedEnvironment } from "../work-lease.ts";

export interface WriteLossDeps {
  readonly db: Db;
  readonly announce: Announce;
  readonly log: Logger;
}

interface Loss {
  /** The machine's last sign. */
  readonly since?: Date | undefined;
  readonly message: string;
}

/** A change of the machine makes the row due sooner. */
const lookAgainMs = 20_000;

/** Whether an environment has lost its machine by this error (G181). A launch has its deadline instead. */
export function isLoss(row: LeasedEnvironment, error: unknown): error is DriverError {
  return error instanceof DriverError && error.code === "lost" && row.created_at !== null;
}

/** The last sign of the machine that a run ended with, when another machine can go on; undefined: it ended by itself. */
export function lossOf(row: LeasedEnvironment, observed: Observed): Loss | undefined {
  if (row.lost_since || row.created_at === null || row.desired !== "running") return undefined;
  if (observed.state !== "stopped" || observed.exit.lostSince === undefined) return undefined;
  return { since: observed.exit.lostSince ?? undefined, message: "its machine is off, and another one can start it" };
}

/**
 * Writes that the machine of an environment is lost, and tells its owner once (G181). Its time stands still from the
 * machine's last sign on, and nothing is ended for it. `again`: the next step is due at once.
 */
export async function writeLoss(
  { db, announce, log }: WriteLossDeps,
  row: LeasedEnvironment,
  { since, message }: Loss,
  again?: "again",
): Promise<void> {
  const at = sql<Date>`greatest(created_at, least(now(), ${since ?? null}::timestamptz))`;
  const lostAt = await db.transaction().execute(async (tx) => {
    const values = {
      status: "unknown" as const,
      lost_since: sql<Date>`coalesce(lost_since, ${at})`,
      fault_since: sql<Date>`coalesce(fault_since, ${at})`,
      down_since: sql<Date>`coalesce(down_since, now())`,
      last_error: message.slice(0, 500),
      due_at: inMs(again ? 0 : lookAgainMs),
    };
    if (!(await finish(tx, environmentQueue, row, values)) || row.lost_since) return undefined;
    const written = await tx
      .selectFrom("environments")
      .where("id", "=", row.id)
      .select("lost_since")
      .executeTakeFirst();
    const lost = written?.lost_since;
    if (lost) await tell(announce, row, lost)(tx);
    return lost;
  });
  if (lostAt) log.fatal({ event: "environment.machine_lost", since: lostAt }, message);
}

const tell =
  (announce: Announce, { id, user_id: userId, subdomain }: LeasedEnvironment, since: Date) =>
  (tx: Parameters<Announce>[0]) =>
    announce(tx, {
      userId,
      cause: `machine:${id}:${since.toISOString()}`,
      title: `The machine of ${subdomain} has failed`,
      body: `It gives no sign since ${instant(since)}. From then on none of the time of ${subdomain} is used. It goes on by itself: on another machine if its files can be reached from there, else when its own is back. What was in memory may be lost. If you do not want to wait, its page has two ways: start it on another machine without its files, or end it, and the rest of its time is paid back.`,
      link: `/environments/${id}`,
    });
