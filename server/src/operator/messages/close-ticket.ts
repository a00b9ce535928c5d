import { sql } from "kysely";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { showTicket } from "./read-tickets.ts";

/** Closes a ticket that needs no answer here, and notifies nobody (G148). Returns what was done. Throws for no ticket. */
export async function closeTicket(db: Db, idOrCode: string, author: Author): Promise<string> {
  requireReason(author);
  const { id, code } = await showTicket(db, idOrCode);
  return await db.transaction().execute(async (tx) => {
    const closed = await tx
      .updateTable("support_tickets")
      .set({ closed_at: sql`now()` })
      .where("id", "=", id)
      .where("closed_at", "is", null)
      .returning("id")
      .executeTakeFirst();
    if (!closed) return `${code} is closed already`;
    await recordAct(tx, author, "ticket.close", id, { code });
    return `${code} is closed`;
  });
}
