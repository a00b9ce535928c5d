import type { Catalogue, Notification } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Sql, Tx } from "../database/database.ts";
import { newId } from "../database/new-id.ts";

export interface Notice {
  readonly userId: string;
  /** Idempotency key, such as `ready:{environment}`: written once for each user. */
  readonly cause: string;
  readonly title: string;
  readonly body: string;
  /** A path of the app. */
  readonly link: string | null;
}

/** Writes a notification in the transaction of its event, once for each user and cause. Returns whether it is new. */
export async function writeNotice(tx: Tx, { userId, ...notice }: Notice): Promise<boolean> {
  const written = await tx
    .insertInto("notifications")
    .values({ id: newId(), user_id: userId, ...notice })
    .onConflict((conflict) => conflict.columns(["user_id", "cause"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return written !== undefined;
}

/** Notifies by bell only, such as the welcome. */
export async function announceByBell(tx: Tx, notice: Notice): Promise<void> {
  await writeNotice(tx, notice);
}

/** Writes the three notifications of a new user (G53). */
export function welcoming(
  retentionDays: number,
  { types }: Catalogue,
): (tx: Tx, user: { readonly id: string }) => Promise<void> {
  return async (tx, user) => {
    for (const notice of welcomeNotices(retentionDays, types)) await announceByBell(tx, { userId: user.id, ...notice });
  };
}

/** Made here: it takes ICU's data, which a start does not need. */
const choiceOf = (names: readonly string[]) => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names);

const welcomeNotices = (retentionDays: number, types: Catalogue["types"]): readonly Omit<Notice, "userId">[] => [
  {
    cause: "welcome:account",
    title: "Your account is ready",
    body: "No card is stored. You pay once for the hours you choose, and nothing renews by itself.",
    link: "/dashboard",
  },
  {
    cause: "welcome:first-environment",
    title: "Launch your first environment",
    body: `Choose ${choiceOf(types.map(({ name }) => name))}, the number of GPUs and a name. The clock starts when JupyterLab answers.`,
    link: "/environments/create",
  },
  {
    cause: "welcome:files",
    title: "Your files stay",
    body: `Files are kept when you stop, when the time ends, and ${retentionDays} days after the last session.`,
    link: "/environments",
  },
];

const listLength = 50;

/** Returns the newest 50, newest first, and the count of all unread ones. */
export async function listNotifications(
  database: Sql,
  userId: string,
): Promise<{ unread: number; notifications: Notification[] }> {
  const rows = await database
    .selectFrom("notifications")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(listLength)
    .execute();
  const { unread } = await database
    .selectFrom("notifications")
    .select((row) => row.fn.countAll<number>().as("unread"))
    .where("user_id", "=", userId)
    .where("read_at", "is", null)
    .executeTakeFirstOrThrow();
  return {
    unread,
    notifications: rows.map(({ id, title, body, link, created_at, read_at }) => ({
      id,
      title,
      body,
      link,
      created_at: created_at.toISOString(),
      read: read_at !== null,
    })),
  };
}

/** Marks the given notifications of this user as read; an empty list means all. */
export async function markRead(database: Sql, userId: string, ids: readonly string[]): Promise<void> {
  await database
    .updateTable("notifications")
    .set({ read_at: new Date() })
    .where("user_id", "=", userId)
    .where("read_at", "is", null)
    .$if(ids.length > 0, (query) => query.where("id", "in", ids))
    .execute();
}

/** Deletes read notifications after 90 days, unread ones after a year. */
export async function purgeNotifications(db: Db): Promise<void> {
  await db
    .deleteFrom("notifications")
    .where(({ or, eb }) =>
      or([
        eb("read_at", "<", sql<Date>`now() - interval '90 days'`),
        eb("created_at", "<", sql<Date>`now() - interval '1 year'`),
      ]),
    )
    .execute();
}
