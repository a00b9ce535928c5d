import {
  chatText,
  chatUrl,
  countSearch,
  isSupportCode,
  openTicket,
  type SupportSettings,
  supportCatalog,
  supportCode,
  supportContent,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { countUnfound } from "./docs-searches.ts";
import { saveTicket } from "./save-ticket.ts";

interface SupportDeps {
  readonly db: Db;
  readonly appUrl: string;
  readonly supportName: string;
  readonly settings: SupportSettings;
}

/** Stores tickets, serves the support texts, and counts what the documentation lacks. The browser opens the chat (G59). */
export function supportRoutes(app: FastifyInstance, { db, appUrl, supportName, settings }: SupportDeps): void {
  mount(app, supportCatalog, async () => ({ ...success, ...supportContent }));

  mount(app, countSearch, async ({ body }) => {
    await countUnfound(db, body.words);
    return success;
  });

  mount(app, openTicket, async ({ user, body: { issueType, description, userId, supportCode: proposed } }) => {
    if (userId !== user.id) throw new AppError("forbidden", "A ticket is opened by its own user only");
    const { codePrefix } = settings;
    const isTheirs = proposed !== undefined && isSupportCode(proposed, codePrefix, user.id);
    const code = isTheirs ? proposed : supportCode(codePrefix, user.id, Date.now());
    // The address of the token, because one in the body proves nothing.
    await saveTicket(db, { userId, code, issueType, description, email: user.email });
    const topic = supportContent.issueTypes.find(({ value }) => value === issueType)?.label ?? issueType;
    return {
      success: true as const,
      message: savedText(settings, supportName),
      ticketId: code,
      telegramUrl: chatUrl(settings, chatText({ code, email: user.email, topic, description }), `${appUrl}/support`),
    };
  });
}

/** Without an account of the operator the ticket itself is answered (G308). */
function savedText({ telegram }: SupportSettings, supportName: string): string {
  if (telegram === "") return "Your message is here. The answer comes by the bell and by e-mail.";
  return `Your ticket is saved. Send the message in Telegram, and ${supportName} answers there.`;
}
