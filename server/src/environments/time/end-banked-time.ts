import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { type Announce, instant } from "../notice.ts";

interface BankedTimeDeps {
  readonly db: Db;
  readonly announce: Announce;
}

/** Days before the end, and the value of `environments.notice` after the notice. */
const notices = [
  { days: 30, name: "b30" },
  { days: 7, name: "b7" },
  { days: 1, name: "b1" },
] as const;

interface Banked {
  readonly id: string;
  readonly user_id: string;
  readonly subdomain: string;
  readonly notice: string;
  readonly banked_seconds: number;
  readonly days: number;
}

/**
 * Banked time ends a year after the last session (G113). Its owner is notified 30, 7 and 1 days before, after a gap only
 * the nearest time; then the environment ends as expired, with its files and name kept as after every end (G31). After an
 * outage the last notice comes a day before the end at least.
 */
export async function endBankedTime({ db, announce }: BankedTimeDeps): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from environments
    where banked_until <= now() + make_interval(days => ${notices[0].days}) and status = 'stopped' and desired = 'stopped'
    order by id`.execute(db);
  for (const { id } of rows) await db.transaction().execute((tx) => checkBankedTime(tx, announce, id));
}

async function checkBankedTime(tx: Tx, announce: Announce, id: string): Promise<void> {
  const { rows } = await sql<Banked>`
    select id, user_id, subdomain, notice, banked_seconds, extract(epoch from banked_until - now())::float8 / 86400 as days
    from environments where id = ${id} and banked_until is not null and status = 'stopped' and desired = 'stopped'
    for update`.execute(tx);
  const row = rows[0];
  if (!row) return;
  const due = notices.findLast(({ days }) => row.days <= days);
  const last = notices.findIndex(({ name }) => name === row.notice);
  if (due && notices.indexOf(due) > last) return await announceEnd(tx, announce, row, due.name);
  if (row.days > 0) return;
  await sql`
    update environments set desired = 'terminated', ended_reason = 'expired', due_at = now()
    where id = ${id}`.execute(tx);
}

async function announceEnd(
  tx: Tx,
  announce: Announce,
  { id, user_id, subdomain, banked_seconds }: Banked,
  notice: string,
) {
  const { rows } = await sql<{ banked_until: Date }>`
    update environments set notice = ${notice}, banked_until = greatest(banked_until, now() + interval '1 day')
    where id = ${id} returning banked_until`.execute(tx);
  const until = rows[0]?.banked_until;
  if (!until) return;
  await announce(tx, {
    userId: user_id,
    cause: `banked:${id}:${until.toISOString()}:${notice}`,
    title: `The banked time of ${subdomain} ends`,
    body: `${formatDuration(banked_seconds)} are kept until ${instant(until)}, a year after its last session. Start it before then to use them; after that the environment ends, and its files are deleted some weeks later.`,
    link: `/environments/${id}`,
  });
}
