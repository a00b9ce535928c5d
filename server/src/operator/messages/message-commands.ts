import { audiences } from "@berth/contract/console/messages";
import type { Config } from "../../config/config.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { pageOf, printPage } from "../print-page.ts";
import { type Columns, oneLine, printJson } from "../print-rows.ts";
import { announcerOf, authorOf, withDatabase } from "../with-database.ts";
import { answerTicket } from "./answer-ticket.ts";
import { closeTicket } from "./close-ticket.ts";
import { readTickets, showTicket, type TicketSummary, ticketsPerPage } from "./read-tickets.ts";
import { announcedText, sendAnnouncement } from "./send-announcement.ts";

/** Tickets and announcements. */
export const messageCommands: readonly Command[] = [
  {
    name: "tickets",
    args: [],
    options: { all: "", page: "NUMBER", json: "" },
    about: `lists open tickets, oldest first, or with --all every one, ${ticketsPerPage} on a page`,
    example: "tickets",
    run: list,
  },
  {
    name: "tickets show",
    args: ["TICKET"],
    options: { json: "" },
    about: "shows a ticket, by its code, with its answers",
    example: "tickets show BRT-a1b2c3-4567",
    run: show,
  },
  {
    name: "tickets answer",
    args: ["TICKET", "TEXT..."],
    about: "answers a ticket by bell and mail",
    example: "tickets answer BRT-a1b2c3-4567 'It runs again, and the lost hour is added.'",
    run: answer,
  },
  {
    name: "tickets close",
    args: ["TICKET"],
    options: { reason: "TEXT" },
    about: "closes a ticket that needs no answer here; nobody is notified",
    example: "tickets close BRT-a1b2c3-4567 --reason 'Answered in the chat'",
    run: close,
  },
  {
    name: "announce",
    args: ["TEXT..."],
    options: { to: audiences.join(" | "), title: "TITLE", mail: "" },
    about: "tells everybody, or those who rent now, by bell; with --mail also who gets mails about environments",
    example: "announce --to renters --title Maintenance 'gpu-1 restarts on Monday at 06:00 UTC.' --mail",
    run: announce,
  },
];

type Args = readonly string[];

const columns: Columns<TicketSummary> = {
  ticket: ({ code }) => code,
  at: ({ created_at }) => created_at,
  owner: ({ email }) => email,
  about: ({ issue_type }) => issue_type,
  answered: ({ answered_at }) => answered_at,
  closed: ({ closed_at }) => closed_at,
  text: ({ description }) => oneLine(description).slice(0, 80),
};

async function list(config: Config, _: Args, options: Options): Promise<void> {
  const page = pageOf(options);
  const found = await withDatabase(config, (db) => readTickets(db, options["all"] !== undefined, page));
  printPage(found, columns, options, { none: "There is no such ticket", perPage: ticketsPerPage });
}

async function show(config: Config, [id = ""]: Args, { json }: Options): Promise<void> {
  const ticket = await withDatabase(config, (db) => showTicket(db, id));
  if (json !== undefined) return void printJson(ticket);
  const { code, email, user_id, issue_type, created_at, closed_at, description, answers } = ticket;
  console.log(
    `${code} of ${oneLine(email)} (${user_id}), ${issue_type}, ${created_at.toISOString()}\n${oneLine(description)}`,
  );
  for (const { text, answered_at } of answers) console.log(`answered ${answered_at.toISOString()}: ${oneLine(text)}`);
  if (closed_at) console.log(`closed ${closed_at.toISOString()}`);
}

async function answer(config: Config, [id = "", ...text]: Args, options: Options): Promise<void> {
  const announce = announcerOf(config);
  const words = text.join(" ");
  const code = await withDatabase(config, (db) => answerTicket({ db, announce }, id, words, authorOf(options)));
  console.log(`${code} is answered`);
}

async function close(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  console.log(await withDatabase(config, (db) => closeTicket(db, id, authorOf(options))));
}

async function announce(config: Config, text: Args, options: Options): Promise<void> {
  const { to = "all", title = "News", mail } = options;
  const audience = audiences.find((known) => known === to);
  if (!audience) return usage(`${to} is not an audience.`);
  const announcement = { text: text.join(" "), audience, title, byMail: mail !== undefined };
  const receivers = await withDatabase(config, (db) => sendAnnouncement(db, announcement, authorOf(options)));
  console.log(announcedText(receivers, announcement.byMail));
}
