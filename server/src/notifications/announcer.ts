import type { Announce } from "../environments/notice.ts";
import { readFlags } from "../identity/flags.ts";
import { mailFlag } from "../mail/mail-flag.ts";
import { enqueueMail } from "../mail/outbox.ts";
import { renderEmail } from "../mail/render-email.ts";
import { writeNotice } from "./notifications.ts";

interface AnnouncerOptions {
  readonly appUrl: string;
  readonly brandName: string;
}

/** Notifies a user by bell, and by mail where their flags allow it (G49), in the transaction of the event. */
export function announcer({ appUrl, brandName }: AnnouncerOptions): Announce {
  return async (tx, notice) => {
    // Idempotent: the notice was written before, and its mail was decided then.
    if (!(await writeNotice(tx, notice))) return;
    const user = await tx
      .selectFrom("profiles")
      .select(["email", "name"])
      .where("user_id", "=", notice.userId)
      .executeTakeFirst();
    const flag = mailFlag(notice.cause);
    if (!user?.email || (flag !== "always" && !(await readFlags(tx, notice.userId))[flag])) return;
    const { title, body, link, userId, cause } = notice;
    const email = renderEmail({
      brandName,
      name: user.name,
      subject: title,
      paragraphs: [body],
      ...(link !== null && { button: { label: "Open", url: `${appUrl}${link}` } }),
      footnotes: flag === "always" ? [] : [`You choose which mails you get: ${appUrl}/settings?tab=notifications`],
    });
    await enqueueMail(tx, { ...email, userId, to: user.email, cause: `notice:${userId}:${cause}` });
  };
}
