import type { IssueType } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../app-error.ts";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";

export interface Ticket {
  readonly userId: string;
  readonly code: string;
  readonly issueType: IssueType;
  readonly description: string;
  readonly email: string;
}

/** Rate limit, so that a program cannot fill the disk. */
const ticketsPerHour = 20;

/** Stores a ticket under an id of its own, because the code is only a label (G60). A ticket is open until an operator answers it. */
export async function saveTicket(db: Db, { userId, code, issueType, description, email }: Ticket): Promise<void> {
  const { count } = await db
    .selectFrom("support_tickets")
    .select((row) => row.fn.countAll<number>().as("count"))
    .where("user_id", "=", userId)
    .where("created_at", ">", sql<Date>`now() - interval '1 hour'`)
    .executeTakeFirstOrThrow();
  if (count >= ticketsPerHour)
    throw new AppError("rate_limited", "You have opened many tickets this hour. Write in the chat instead.", {
      retryAfterSeconds: 3600,
    });
  await db
    .insertInto("support_tickets")
    .values({ id: newId(), user_id: userId, code, issue_type: issueType, description, email })
    .execute();
}
