import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  inMs,
  type Leased,
  nextDueMs,
  retryIn,
  workQueue,
} from "../../database/work-queue.ts";
import type { Announce } from "../../environments/notice.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { announceByBell } from "../../notifications/notifications.ts";
import { isIn } from "./send-announcement.ts";

interface AnnouncingDeps {
  readonly db: Db;
  /** By bell and mail. */
  readonly announce: Announce;
  readonly log: Logger;
}

type Row = Leased<RowOf<"announcements">>;

const queue = workQueue("announcements", ["id"], 60);
const isOpen = sql`due_at is not null`;
const intervalMs = 5_000;
/** Accounts of one transaction. */
export const batchLength = 100;
/** Between two batches with mails, so that other mails do not wait behind all of them. */
const mailPauseMs = 2_000;

/** Sends announcements in batches, each in a transaction of its own: after a crash the next one goes on (G148). */
export function startAnnouncing(deps: AnnouncingDeps): Loop {
  const { db, log } = deps;
  return startInterval({
    name: "announcements",
    work: async () => {
      const rows = await fetchDue(db, queue, { where: isOpen, limit: 1 });
      for (const row of rows) await sendBatch(deps, row);
      return rows.length > 0 ? 0 : await nextDueMs(db, queue, isOpen);
    },
    intervalMs,
    log,
  });
}

async function sendBatch(deps: AnnouncingDeps, row: Row): Promise<void> {
  const { db, log } = deps;
  try {
    await db.transaction().execute((tx) => notifyBatch(deps, tx, row));
  } catch (err) {
    log.error({ event: "announcement.failed", announcementId: row.id, err });
    const attempts = row.attempts + 1;
    await finish(db, queue, row, { ...retryIn(backoffMs(attempts), err), attempts });
  }
}

/** Throws when the lease is lost, so that nothing of the batch stays. */
async function notifyBatch({ announce }: AnnouncingDeps, tx: Tx, row: Row): Promise<void> {
  const { id, title, body, audience, by_mail, last_user } = row;
  const at = sql<Date>`(select created_at from announcements where id = ${id})`;
  const { rows } = await sql<{ id: string }>`
    select u.id from identity_user u where u.id > ${last_user} and ${isIn(audience, at)}
    order by u.id limit ${batchLength}`.execute(tx);
  const notify = by_mail ? announce : announceByBell;
  for (const { id: userId } of rows) await notify(tx, { userId, cause: `news:${id}`, title, body, link: "/dashboard" });
  const rest =
    rows.length < batchLength
      ? { last_user: "", due_at: null }
      : { last_user: rows.at(-1)?.id ?? "", due_at: inMs(by_mail ? mailPauseMs : 0) };
  const written = await finish(tx, queue, row, {
    ...rest,
    notified: row.notified + rows.length,
    attempts: 0,
    last_error: null,
  });
  if (!written) throw new Error("another worker has this announcement");
}
