import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";

export interface TicketSummary {
  readonly id: string;
  readonly code: string;
  readonly issue_type: string;
  readonly description: string;
  readonly email: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly answered_at: Date | null;
}

const listLength = 200;

/** Returns tickets without an answer, oldest first; with `all` every ticket, newest first. */
export async function readTickets(db: Db, all: boolean): Promise<readonly TicketSummary[]> {
  const { rows } = await sql<TicketSummary>`
    select t.*, (select max(answered_at) from ticket_answers a where a.ticket_id = t.id) as answered_at
    from support_tickets t where ${all} or not exists (select from ticket_answers a where a.ticket_id = t.id)
    order by case when ${all} then t.created_at end desc, t.created_at, t.id limit ${listLength}`.execute(db);
  return rows;
}

/** Returns a ticket with its answers; the newest one of a code, which is only a label (G60). Throws for none. */
export async function showTicket(db: Db, idOrCode: string) {
  const ticket = await db
    .selectFrom("support_tickets")
    .selectAll()
    .where(({ or, eb }) => or([eb("id", "=", idOrCode), eb("code", "=", idOrCode)]))
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!ticket) throw new AppError("not_found", `There is no ticket ${idOrCode}; tickets names the open ones`);
  const answers = await db
    .selectFrom("ticket_answers")
    .select(["text", "answered_at"])
    .where("ticket_id", "=", ticket.id)
    .orderBy("answered_at")
    .execute();
  return { ...ticket, answers };
}

interface MessageDeps {
  readonly db: Db;
  readonly announce: Announce;
}

/** Answers a ticket by bell and mail. Returns its code. Throws for no ticket, and for an empty answer. */
export async function answerTicket(
  { db, announce }: MessageDeps,
  idOrCode: string,
  text: string,
  author: Author,
): Promise<string> {
  if (text.trim() === "") throw new AppError("invalid_request", "An answer needs words");
  const { id: ticket_id, code, user_id } = await showTicket(db, idOrCode);
  return await db.transaction().execute(async (tx) => {
    const id = newId();
    await tx.insertInto("ticket_answers").values({ id, ticket_id, user_id, text: text.trim() }).execute();
    await announce(tx, {
      userId: user_id,
      cause: `answer:${id}`,
      title: `An answer to ${code}`,
      body: text.trim(),
      link: "/support",
    });
    await recordAct(tx, author, "ticket.answer", ticket_id, { code });
    return code;
  });
}
