import { reservationMinutes } from "@berth/contract";
import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Changes } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import { startNotifiedLoop } from "../../database/notified-loop.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { type Announce, instant } from "../notice.ts";
import { lapsedText, reservationTitle } from "./join-queue.ts";
import { lockQueue, serveQueue } from "./serve-queue.ts";

interface QueueDeps {
  readonly db: Db;
  readonly changes: Changes;
  readonly announce: Announce;
  readonly log: Logger;
}

const intervalMs = 5000;

/** Serves the queue when GPUs may have become free, and notifies the owners of reservations. */
export function startQueueProcessor({ db, changes, announce, log }: QueueDeps): Loop {
  return startNotifiedLoop({
    name: "queue",
    changes,
    on: ["environment", "order", "queue"],
    work: async () => {
      await processQueue(db, announce);
      return intervalMs;
    },
    intervalMs,
    log,
  });
}

/** One pass of three transactions, each of which may be repeated. */
export async function processQueue(db: Db, announce: Announce): Promise<void> {
  const { rows } = await sql`select 1 from queue_entries where status in ('waiting', 'held') limit 1`.execute(db);
  if (rows.length > 0) await db.transaction().execute(async (tx) => void (await serveQueue(tx, await lockQueue(tx))));
  await notifyReservations(db, announce);
  await notifyLapsed(db, announce);
}

interface Notified {
  readonly id: string;
  readonly user_id: string;
  readonly gpu_count: number;
  readonly held_until: Date;
}

/**
 * The ten minutes begin with the notice, so an outage costs nobody a reservation without notice. A user who launched
 * before is not notified.
 */
async function notifyReservations(db: Db, announce: Announce): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Locked in the order of the queue: several reservations may begin at once, and another order could deadlock.
    const held = (await lockQueue(tx)).filter(({ status }) => status === "held").map(({ id }) => id);
    const { rows: begun } = await sql<Notified>`
      with notified as (
        update queue_entries set told_at = now(), held_until = now() + make_interval(mins => ${reservationMinutes})
        where id = any(${held}) and told_at is null returning id, user_id, gpu_count, held_until),
      later as (
        update gpu_leases l set hold_until = notified.held_until from notified
        where l.holder_kind = 'queue' and l.holder_id = notified.id and l.released_at is null)
      select * from notified order by user_id`.execute(tx);
    for (const { id, user_id: userId, gpu_count: gpuCount, held_until } of begun)
      await announce(tx, {
        userId,
        cause: `turn:${id}`,
        title: reservationTitle(gpuCount),
        body: `It is your turn. Launch before ${instant(held_until)}; after that the next in line gets them.`,
        link: `/environments/create?step=2&gpus=${gpuCount}`,
      });
  });
}

/** Once for each reservation that lapsed, unless its owner entered again or left. */
async function notifyLapsed(db: Db, announce: Announce): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows: lapsed } = await sql<Omit<Notified, "held_until">>`
      with notified as (
        update queue_entries set told_at = now() where status = 'lapsed' and told_at is null
        returning id, user_id, gpu_count)
      select * from notified order by user_id`.execute(tx);
    for (const { id, user_id: userId, gpu_count: gpuCount } of lapsed)
      await announce(tx, {
        userId,
        cause: `turn-lapsed:${id}`,
        title: "Your turn has passed",
        body: lapsedText(gpuCount),
        link: `/environments/create?step=2&gpus=${gpuCount}`,
      });
  });
}
