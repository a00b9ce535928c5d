import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import type { Page } from "../print-page.ts";

export interface TicketSummary {
  readonly id: string;
  readonly code: string;
  readonly issue_type: string;
  readonly description: string;
  readonly email: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly answered_at: Date | null;
  readonly closed_at: Date | null;
}

export const ticketsPerPage = 50;

/** Whether the ticket `t` waits for an answer (G148). */
export const isOpen = sql`t.closed_at is null and not exists (select from ticket_answers a where a.ticket_id = t.id)`;

/** Returns open tickets, oldest first; with `all` every ticket, newest first. Pages count from 1. */
export async function readTickets(db: Db, all: boolean, page: number): Promise<Page<TicketSummary>> {
  const listed = sql`${all} or (${isOpen})`;
  const counted = sql<{ total: number }>`select count(*)::int as total from support_tickets t where ${listed}`;
  const found = sql<TicketSummary>`
    select t.*, (select max(answered_at) from ticket_answers a where a.ticket_id = t.id) as answered_at
    from support_tickets t where ${listed}
    order by case when ${all} then t.created_at end desc, t.created_at, t.id
    limit ${ticketsPerPage} offset ${ticketsPerPage * (page - 1)}`;
  const [{ rows }, { rows: totals }] = await Promise.all([found.execute(db), counted.execute(db)]);
  return { rows, total: totals[0]?.total ?? 0 };
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
    .select(["id", "text", "answered_at"])
    .where("ticket_id", "=", ticket.id)
    .orderBy("answered_at")
    .execute();
  return { ...ticket, answers };
}
