import { plural } from "@berth/contract";
import { type Audience, longestAnnouncement, longestTitle } from "@berth/contract/console/messages";
import { type RawBuilder, sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, Sql } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";

interface Announcement {
  readonly title: string;
  readonly text: string;
  readonly audience: Audience;
  /** Also by mail, to those who get mails about their environments. */
  readonly byMail: boolean;
}

/** Which accounts `u` an audience had at an instant of the database; suspended ones are left out. */
export function isIn(audience: string, at: RawBuilder<Date>): RawBuilder<unknown> {
  return sql`not u.disabled and u.created_at <= ${at} and (${audience === "all"}
    or exists (select from environments e where e.user_id = u.id and e.requested_at <= ${at}
      and (e.status <> 'terminated' or e.terminated_at > ${at})))`;
}

export interface Receivers {
  readonly accounts: number;
  /** Those of them who would get a mail. */
  readonly mails: number;
}

/** Counts whom an announcement would reach now. */
export async function countReceivers(db: Sql, audience: Audience): Promise<Receivers> {
  const { rows } = await sql<Receivers>`
    select count(*)::int as accounts,
      (count(*) filter (where p.email <> '' and coalesce(f.email_notifications, true)))::int as mails
    from identity_user u left join profiles p on p.user_id = u.id left join user_flags f on f.user_id = u.id
    where ${isIn(audience, sql`now()`)}`.execute(db);
  return rows[0] ?? { accounts: 0, mails: 0 };
}

/**
 * Queues an announcement, which the worker sends in batches (start-announcing.ts). Returns whom it reaches. Throws for an
 * empty or too long title or text, and where it would reach nobody.
 */
export async function sendAnnouncement(db: Db, announcement: Announcement, author: Author): Promise<Receivers> {
  const { audience, byMail } = announcement;
  const title = lineOf("title", announcement.title, longestTitle);
  const body = lineOf("text", announcement.text, longestAnnouncement);
  return await db.transaction().execute(async (tx) => {
    const id = newId();
    const receivers = await countReceivers(tx, audience);
    if (receivers.accounts === 0) throw new AppError("action_not_allowed", nobody[audience]);
    await tx.insertInto("announcements").values({ id, title, body, audience, by_mail: byMail }).execute();
    await recordAct(tx, author, "announcement.send", id, { audience, users: receivers.accounts, mail: byMail });
    return receivers;
  });
}

const nobody = {
  all: "Nobody would get it: there is no account yet",
  renters: "Nobody would get it: nobody rents now",
} as const;

/** What was done, for the operator. */
export function announcedText({ accounts, mails }: Receivers, byMail: boolean): string {
  const to = plural(accounts, "account");
  return `On its way to ${to}${byMail ? `, to ${mails} of them by mail too` : ""}`;
}

function lineOf(what: string, text: string, longest: number): string {
  const trimmed = text.trim();
  if (trimmed !== "" && trimmed.length <= longest) return trimmed;
  throw new AppError("invalid_request", `The ${what} of an announcement has 1 to ${longest} characters`);
}

export interface SentAnnouncement {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly audience: string;
  readonly by_mail: boolean;
  readonly created_at: Date;
  readonly notified: number;
  readonly is_done: boolean;
}

const listLength = 20;

/** Returns the newest announcements, with how many accounts are notified so far. */
export async function readAnnouncements(db: Db): Promise<readonly SentAnnouncement[]> {
  const { rows } = await sql<SentAnnouncement>`
    select id, title, body, audience, by_mail, created_at, notified, due_at is null as is_done
    from announcements order by created_at desc, id limit ${listLength}`.execute(db);
  return rows;
}
