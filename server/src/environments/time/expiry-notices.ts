import { maxSessionHours } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import type { Environment } from "../environment.ts";
import { type Announce, instant } from "../notice.ts";

const notices = [
  { name: "10m", seconds: 600, text: "10 minutes" },
  { name: "1h", seconds: 3600, text: "1 hour" },
  { name: "24h", seconds: 86_400, text: "24 hours" },
] as const;

/** The newest notice that a remaining time calls for, or "". */
export function noticeAt(remainingSeconds: number): string {
  return notices.find(({ seconds }) => remainingSeconds <= seconds)?.name ?? "";
}

/** The notice that a remaining time calls for, unless it or a nearer one was sent. */
export function pendingNotice(remainingSeconds: number, sentName: string) {
  const due = notices.find(({ seconds }) => remainingSeconds <= seconds);
  const sent = notices.find(({ name }) => name === sentName);
  return due && !(sent && sent.seconds <= due.seconds) ? due : undefined;
}

/** Seconds left in SQL; null where the clock stands still. */
const remaining = sql<number | null>`extract(epoch from expires_at - now())::float8`;

/**
 * When an environment becomes active, the notice that its time already calls for counts as sent: an hour's rental does
 * not begin with "one hour left".
 */
export async function resetNotice(tx: Tx, id: string): Promise<void> {
  const row = await tx.selectFrom("environments").where("id", "=", id).select(remaining.as("left")).executeTakeFirst();
  const notice = noticeAt(row?.left ?? Number.POSITIVE_INFINITY);
  await tx.updateTable("environments").set({ notice }).where("id", "=", id).execute();
}

/** Announces the coming end, each threshold once; after a long gap only the nearest. */
export async function announceExpiry(db: Db, announce: Announce, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Environment & { readonly left: number | null }>`
      select *, ${remaining} as left from environments
      where id = ${id} and status in ('active', 'paused') and desired <> 'terminated' for update`.execute(tx);
    const row = rows[0];
    if (!row?.expires_at || row.left === null || row.left <= 0) return;
    const due = pendingNotice(row.left, row.notice);
    if (!due) return;
    await sql`update environments set notice = ${due.name} where id = ${id}`.execute(tx);
    await announce(tx, {
      userId: row.user_id,
      cause: `expires:${id}:${row.expires_at.toISOString()}:${due.name}`,
      title: `${row.subdomain} ends in less than ${due.text}`,
      body: `Its time is over on ${instant(row.expires_at)}. Save what you need: files are kept after the end, what is in memory is not.`,
      link: `/environments/${id}?extend=${id}`,
    });
  });
}

/** Announces a rollover a day before a session reaches its longest length (G22). */
export async function announceRollover(db: Db, announce: Announce, id: string): Promise<void> {
  const { rows } = await sql<{ id: string; user_id: string; subdomain: string }>`
    select s.id, e.user_id, e.subdomain from sessions s join environments e on e.id = s.environment_id
    where e.id = ${id} and s.closed_at is null and s.opened_at <= now() - make_interval(hours => ${maxSessionHours - 24})
      and e.expires_at > s.opened_at + make_interval(hours => ${maxSessionHours})`.execute(db);
  const session = rows[0];
  if (!session) return;
  await db.transaction().execute((tx) =>
    announce(tx, {
      userId: session.user_id,
      cause: `session:${session.id}:24h`,
      title: `${session.subdomain}: a new session begins within 24 hours`,
      body: `A session lasts ${maxSessionHours} hours at most. The next one follows at once; nothing is interrupted.`,
      link: `/environments/${id}`,
    }),
  );
}
