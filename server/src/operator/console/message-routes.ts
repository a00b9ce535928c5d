import {
  announce as announceCall,
  readAnnouncements as announcementsCall,
  answerTicket as answerCall,
  closeTicket as closeCall,
  readTicket,
  searchTickets,
} from "@berth/contract/console/messages";
import type { FastifyInstance } from "fastify";
import { readAudit } from "../../audit/read-audit.ts";
import { mount, success } from "../../http/mount.ts";
import { answerTicket } from "../messages/answer-ticket.ts";
import { closeTicket } from "../messages/close-ticket.ts";
import { readTickets, showTicket, ticketsPerPage } from "../messages/read-tickets.ts";
import { announcedText, countReceivers, readAnnouncements, sendAnnouncement } from "../messages/send-announcement.ts";
import { auditedAct } from "./audited-act.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";
import { onWire } from "./on-wire.ts";

const actsShown = 20;

/** Tickets and announcements: what `operator -- tickets` and `operator -- announce` do (G120, G148). */
export function messageRoutes(app: FastifyInstance, { db, announce }: Pick<ConsoleDeps, "db" | "announce">): void {
  mount(app, searchTickets, async ({ body: { all, page } }) => {
    const { rows, total } = await readTickets(db, all, page);
    return { ...success, tickets: onWire(rows), total, per_page: ticketsPerPage };
  });
  mount(app, readTicket, async ({ params }) => {
    const { answers, ...ticket } = await showTicket(db, params.id);
    const acts = await readAudit(db, { subject: ticket.id, limit: actsShown });
    const answered_at = answers.at(-1)?.answered_at ?? null;
    return {
      ...success,
      ticket: onWire({ ...ticket, answered_at }),
      answers: onWire(answers),
      audit: acts.map(auditedAct),
    };
  });
  mount(app, answerCall, async ({ params: { id }, body: { text, reason }, request }) => {
    const code = await answerTicket({ db, announce }, id, text, authorOf(request, reason));
    return { ...success, message: `${code} is answered` };
  });
  mount(app, closeCall, async ({ params: { id }, body: { reason }, request }) => {
    return { ...success, message: await closeTicket(db, id, authorOf(request, reason)) };
  });
  mount(app, announcementsCall, async () => {
    const [announcements, all, renters] = await Promise.all([
      readAnnouncements(db),
      countReceivers(db, "all"),
      countReceivers(db, "renters"),
    ]);
    return { ...success, announcements: onWire(announcements), receivers: { all, renters } };
  });
  mount(app, announceCall, async ({ body: { reason, by_mail: byMail, ...announcement }, request }) => {
    const receivers = await sendAnnouncement(db, { ...announcement, byMail }, authorOf(request, reason));
    return { ...success, message: announcedText(receivers, byMail) };
  });
}
