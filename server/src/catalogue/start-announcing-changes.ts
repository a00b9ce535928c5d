import { sql } from "kysely";
import type { Loop } from "../async/start-interval.ts";
import type { Changes } from "../database/changes.ts";
import type { Db, RowOf } from "../database/database.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  type Leased,
  nextDueMs,
  retryIn,
  startWorker,
  workQueue,
} from "../database/work-queue.ts";
import type { Announce } from "../environments/notice.ts";
import type { Logger } from "../logging/create-logger.ts";
import type { NoticeCause } from "../mail/mail-flag.ts";

interface AnnounceDeps {
  readonly db: Db;
  readonly announce: Announce;
  readonly log: Logger;
  /** Accounts of one transaction. */
  readonly batchSize?: number;
}

type DueChange = Leased<RowOf<"catalogue_changes">>;

const queue = workQueue("catalogue_changes", ["id"], 60);
const isOpen = sql`due_at is not null`;
const intervalMs = 60_000;

/** Announces changes of prices and terms to the accounts of their time, in batches of one transaction each (G151). */
export function startAnnouncingChanges(deps: AnnounceDeps & { readonly changes: Changes }): Loop {
  const { db, changes, log } = deps;
  return startWorker({
    name: "catalogue-changes",
    changes,
    on: [],
    fetch: () => fetchDue(db, queue, { where: isOpen, limit: 1, set: { attempts: sql`attempts + 1` } }),
    work: (change) => announceBatch(deps, change),
    nextDueMs: () => nextDueMs(db, queue, isOpen),
    intervalMs,
    log,
  });
}

async function announceBatch({ db, announce, log, batchSize = 200 }: AnnounceDeps, change: DueChange): Promise<void> {
  const { id, title, body, link, announced_until, attempts, withdraws } = change;
  try {
    await db.transaction().execute(async (tx) => {
      const users = await tx
        .selectFrom("identity_user")
        .select("id")
        .where("id", ">", announced_until)
        .$if(withdraws !== null, (audience) =>
          audience.where("id", "<=", (own) =>
            own.selectFrom("catalogue_changes as c").select("c.announced_until").where("c.id", "=", withdraws),
          ),
        )
        // In SQL, because a Date has no microseconds.
        .where("created_at", "<=", (own) =>
          own
            .selectFrom("catalogue_changes as c")
            .select("c.created_at")
            .where("c.id", "=", withdraws ?? id),
        )
        .orderBy("id")
        .limit(batchSize)
        .execute();
      for (const { id: userId } of users) await announce(tx, { userId, cause: id as NoticeCause, title, body, link });
      const last = users.at(-1)?.id ?? announced_until;
      const due_at = users.length < batchSize ? null : sql<Date>`now()`;
      const done = { announced_until: last, due_at, attempts: 0, last_error: null };
      if (!(await finish(tx, queue, change, done))) throw new Error("the lease was lost");
    });
  } catch (error) {
    log.warn({ event: "catalogue.not_announced", change: id, err: error });
    await finish(db, queue, change, retryIn(backoffMs(attempts), error));
  }
}
