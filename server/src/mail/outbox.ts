import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Loop } from "../async/start-interval.ts";
import type { Changes } from "../database/changes.ts";
import type { Db, RowOf, Tx } from "../database/database.ts";
import { newId } from "../database/ids.ts";
import { startWokenLoop } from "../database/woken-loop.ts";
import type { Letter } from "./render-email.ts";
import { type SmtpSettings, smtpSender } from "./smtp-sender.ts";

export interface Mail extends Letter {
  readonly userId: string;
  readonly to: string;
  /** What it is about, such as `ready:{environment}`: asked for twice, it is mailed once. */
  readonly cause: string;
  /** How long it is worth sending; 5 days unless said, as long as mail servers try. */
  readonly usefulForSeconds?: number;
}

const fiveDaysSeconds = 5 * 86_400;

/** Joins the transaction of what the mail tells: both happen or neither. */
export async function enqueueMail(tx: Tx, mail: Mail): Promise<void> {
  const { usefulForSeconds = fiveDaysSeconds } = mail;
  await tx
    .insertInto("mails")
    .values({
      id: newId(),
      cause: mail.cause,
      user_id: mail.userId,
      recipient: mail.to,
      subject: mail.subject,
      body_text: mail.text,
      body_html: mail.html,
      useful_until: sql`now() + make_interval(secs => ${usefulForSeconds})`,
    })
    .onConflict((conflict) => conflict.column("cause").doNothing())
    .execute();
}

interface Outbox {
  readonly db: Db;
  readonly changes: Changes;
  readonly smtp: SmtpSettings;
  readonly failed: (error: unknown) => void;
  /** The first wait after a failure; doubled by each further one, up to a quarter of an hour. */
  readonly retryMs?: number;
}

type Claimed = RowOf<"mails">;

const intervalMs = 60_000;
const stopMs = 2000;
const longestRetryMs = 15 * 60_000;
/** Longer than any conversation, so that no second one starts beside it. After a crash a mail waits this long. */
const claimFor = "5 minutes";

/**
 * Sends what is queued, each under a claim. A relay that took a mail and was cut off before it could say so gets it once
 * more under the same Message-ID: SMTP cannot do better, and a mail that comes twice beats one that never comes.
 */
export function startOutbox(outbox: Outbox): Loop {
  const { changes, failed } = outbox;
  const send = smtpSender(outbox.smtp);
  const loop = startWokenLoop({
    changes,
    by: ["mail"],
    work: async () => {
      await endLapsed(outbox);
      const mails = await claim(outbox);
      await Promise.all(mails.map((mail) => deliver(outbox, send, mail)));
      return mails.length > 0 ? 0 : untilNext(outbox);
    },
    intervalMs,
    failed,
  });
  return { nudge: loop.nudge, stop: () => atMost(stopMs, loop.stop()) };
}

/** A relay that dawdles does not keep the server from stopping: the claim runs out, and another pass sends the mail. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

async function claim({ db }: Outbox): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    update mails set claim = ${randomUUID()}, next_try_at = now() + ${claimFor}::interval, attempts = attempts + 1
    where id in (
      select id from mails where status = 'queued' and next_try_at <= now()
      order by next_try_at limit 5 for update skip locked)
    returning *`.execute(db);
  return rows;
}

async function untilNext({ db }: Outbox): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select extract(epoch from min(next_try_at) - now()) * 1000 as ms from mails where status = 'queued'`.execute(db);
  return Math.max(0, rows[0]?.ms ?? intervalMs);
}

async function deliver(outbox: Outbox, send: ReturnType<typeof smtpSender>, mail: Claimed): Promise<void> {
  const { id, recipient: to, subject, body_text: text, body_html: html } = mail;
  try {
    const answer = await send({ id, to, subject, text, html });
    if (answer.kind === "refused") outbox.failed(new Error(`Mail ${id} was refused for good: ${answer.reason}`));
    await end(outbox, mail, answer.kind, answer.kind === "refused" ? answer.reason : null);
  } catch (error) {
    outbox.failed(error);
    const { retryMs = 5000 } = outbox;
    const waitMs = Math.min(retryMs * 2 ** Math.min(mail.attempts - 1, 16), longestRetryMs);
    await outbox.db
      .updateTable("mails")
      .set({
        claim: null,
        last_error: String(error).slice(0, 500),
        next_try_at: sql`now() + make_interval(secs => ${waitMs / 1000})`,
      })
      .where("id", "=", id)
      .where("claim", "=", mail.claim)
      .execute();
  }
}

const emptied = { claim: null, body_text: "", body_html: "", ended_at: sql<Date>`now()` };

async function end({ db }: Outbox, mail: Claimed, status: "sent" | "refused", reason: string | null): Promise<void> {
  await db
    .updateTable("mails")
    .set({ ...emptied, status, last_error: reason?.slice(0, 500) ?? null })
    .where("id", "=", mail.id)
    .where("claim", "=", mail.claim)
    .execute();
}

/** What could not be sent in time is given up aloud. */
async function endLapsed({ db, failed }: Outbox): Promise<void> {
  const lapsed = await db
    .updateTable("mails")
    .set({ ...emptied, status: "lapsed" })
    .where("status", "=", "queued")
    .where("useful_until", "<=", sql<Date>`now()`)
    .where((where) => where.or([where("claim", "is", null), where("next_try_at", "<=", sql<Date>`now()`)]))
    .returning(["id", "last_error"])
    .execute();
  for (const { id, last_error } of lapsed) failed(new Error(`Mail ${id} could not be sent in time: ${last_error}`));
}

/** Ended mails are kept a quarter, to answer "did you write to me?"; their words went when they ended. */
export async function purgeMails(db: Db): Promise<void> {
  await db.deleteFrom("mails").where("ended_at", "<", sql<Date>`now() - interval '90 days'`).execute();
}
