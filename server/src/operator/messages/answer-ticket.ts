import { longestAnswer } from "@berth/contract/console/messages";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import { showTicket } from "./read-tickets.ts";

interface MessageDeps {
  readonly db: Db;
  readonly announce: Announce;
}

/** Answers a ticket by bell and mail. Returns its code. Throws for no ticket, and for an empty or too long answer. */
export async function answerTicket(
  { db, announce }: MessageDeps,
  idOrCode: string,
  text: string,
  author: Author,
): Promise<string> {
  const answer = text.trim();
  if (answer === "") throw new AppError("invalid_request", "An answer needs words");
  if (answer.length > longestAnswer)
    throw new AppError("invalid_request", `An answer has at most ${longestAnswer} characters, not ${answer.length}`);
  const { id: ticket_id, code, user_id } = await showTicket(db, idOrCode);
  return await db.transaction().execute(async (tx) => {
    const id = newId();
    await tx.insertInto("ticket_answers").values({ id, ticket_id, user_id, text: answer }).execute();
    await announce(tx, {
      userId: user_id,
      cause: `answer:${id}`,
      title: `An answer to ${code}`,
      body: answer,
      link: "/support",
    });
    await recordAct(tx, author, "ticket.answer", ticket_id, { code });
    return code;
  });
}
