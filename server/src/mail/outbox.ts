import { sql } from "kysely";
import type { Loop } from "../async/start-interval.ts";
import { withTimeout } from "../async/with-timeout.ts";
import type { Changes } from "../database/changes.ts";
import type { Db, RowOf, Tx } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import {
  type Backoff,
  backoffMs,
  fetchDue,
  finish,
  type Leased,
  nextDueMs,
  noLease,
  retryIn,
  startWorker,
  workQueue,
} from "../database/work-queue.ts";
import type { Logger } from "../logging/create-logger.ts";
import type { Email } from "./render-email.ts";
import { type SmtpSettings, smtpSender } from "./smtp-sender.ts";

export interface Mail extends Email {
  readonly userId: string;
  readonly to: string;
  /** Idempotency key, such as `ready:{environment}`: enqueued twice, it is sent once. */
  readonly cause: string;
  /** Lifetime in the queue; 5 days by default, as long as mail servers retry. */
  readonly usefulForSeconds?: number;
}

const fiveDaysSeconds = 5 * 86_400;

/** Joins the transaction of the event that the mail reports: both are committed or neither. */
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
  readonly log: Logger;
  readonly backoff?: Backoff;
  /** Called after each attempt; `failed`: it is tried again. */
  readonly onAttempt?: (result: "sent" | "refused" | "failed") => void;
}

type QueuedMail = Leased<RowOf<"mails">>;

const intervalMs = 60_000;
/** Timeout, so that a slow relay does not delay the shutdown: the lease expires, and another pass sends the mail. */
const stopTimeoutMs = 2000;
/** The lease outlasts any SMTP conversation, so that no second one runs in parallel. */
const queue = workQueue("mails", ["id"], 300);
const isQueued = sql`status = 'queued'`;

/**
 * Sends queued mails, at least once: if the connection breaks before the relay confirms, the mail is sent again with the
 * same Message-ID. SMTP offers no exactly-once delivery.
 */
export function startOutbox(outbox: Outbox): Loop {
  const { db, changes, log } = outbox;
  const send = smtpSender(outbox.smtp);
  const loop = startWorker({
    name: "outbox",
    changes,
    on: ["mail"],
    fetch: async () => {
      await endLapsed(outbox);
      return await fetchDue(db, queue, { where: isQueued, limit: 5, set: { attempts: sql`attempts + 1` } });
    },
    work: (mail) => deliver(outbox, send, mail),
    nextDueMs: () => nextDueMs(db, queue, isQueued),
    intervalMs,
    log,
  });
  return { trigger: loop.trigger, stop: () => withTimeout(loop.stop(), stopTimeoutMs, () => {}) };
}

async function deliver(outbox: Outbox, send: ReturnType<typeof smtpSender>, mail: QueuedMail): Promise<void> {
  const { db, log, onAttempt, backoff = { firstMs: 5000, longestMs: 15 * 60_000 } } = outbox;
  const { id, recipient: to, subject, body_text: text, body_html: html } = mail;
  try {
    const answer = await send({ id, to, subject, text, html });
    onAttempt?.(answer.kind);
    const reason = answer.kind === "refused" ? answer.reason : null;
    if (reason !== null) log.warn({ event: "mail.refused", mailId: id, reason }, "a mail was refused for good");
    await finish(db, queue, mail, { ...emptied, status: answer.kind, last_error: reason?.slice(0, 500) ?? null });
  } catch (error) {
    onAttempt?.("failed");
    log.warn({ event: "mail.not_sent", mailId: id, err: error });
    await finish(db, queue, mail, retryIn(backoffMs(mail.attempts, backoff), error));
  }
}

const emptied = { body_text: "", body_html: "", ended_at: sql<Date>`now()` };

/** Ends the mails whose lifetime is over, and logs each. */
async function endLapsed({ db, log }: Outbox): Promise<void> {
  const lapsed = await db
    .updateTable("mails")
    .set({ ...emptied, ...noLease, status: "lapsed" })
    .where("status", "=", "queued")
    .where("useful_until", "<=", sql<Date>`now()`)
    .where((where) => where.or([where("lease_token", "is", null), where("lease_expires_at", "<=", sql<Date>`now()`)]))
    .returning(["id", "last_error"])
    .execute();
  for (const { id, last_error } of lapsed)
    log.error({ event: "mail.lapsed", mailId: id, reason: last_error }, "a mail could not be sent in time");
}

/** Deletes mails 90 days after they ended. Until then their rows, without text, show that a mail was sent. */
export async function purgeMails(db: Db): Promise<void> {
  await db.deleteFrom("mails").where("ended_at", "<", sql<Date>`now() - interval '90 days'`).execute();
}
