import type { Config } from "../../config/config.ts";
import { announceByBell } from "../../notifications/notifications.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { type Columns, oneLine, printJson, printRows } from "../print-rows.ts";
import { announcerOf, authorOf, withDatabase } from "../with-database.ts";
import { answerTicket, readTickets, showTicket, type TicketSummary } from "./answer-ticket.ts";
import { audiences, sendAnnouncement } from "./send-announcement.ts";

/** Tickets and announcements. */
export const messageCommands: readonly Command[] = [
  {
    name: "tickets",
    args: [],
    options: { all: "", json: "" },
    about: "lists tickets without an answer, oldest first, or with --all every one",
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
  text: ({ description }) => oneLine(description).slice(0, 80),
};

async function list(config: Config, _: Args, options: Options): Promise<void> {
  const rows = await withDatabase(config, (db) => readTickets(db, options["all"] !== undefined));
  printRows(rows, columns, options, "There is no such ticket");
}

async function show(config: Config, [id = ""]: Args, { json }: Options): Promise<void> {
  const ticket = await withDatabase(config, (db) => showTicket(db, id));
  if (json !== undefined) return void printJson(ticket);
  const { code, email, user_id, issue_type, created_at, description, answers } = ticket;
  console.log(`${code} of ${email} (${user_id}), ${issue_type}, ${created_at.toISOString()}\n${oneLine(description)}`);
  for (const { text, answered_at } of answers) console.log(`answered ${answered_at.toISOString()}: ${oneLine(text)}`);
}

async function answer(config: Config, [id = "", ...text]: Args, options: Options): Promise<void> {
  const announce = announcerOf(config);
  const words = text.join(" ");
  const code = await withDatabase(config, (db) => answerTicket({ db, announce }, id, words, authorOf(options)));
  console.log(`${code} is answered`);
}

async function announce(config: Config, text: Args, options: Options): Promise<void> {
  const { to = "all", title = "News", mail } = options;
  const audience = audiences.find((known) => known === to);
  if (!audience) return usage(`${to} is not an audience.`);
  const deps = { announce: mail === undefined ? announceByBell : announcerOf(config) };
  const news = { text: text.join(" "), audience, title };
  const users = await withDatabase(config, (db) => sendAnnouncement({ db, ...deps }, news, authorOf(options)));
  console.log(`${users} accounts are told${mail === undefined ? "" : ", by mail too where they want it"}`);
}
