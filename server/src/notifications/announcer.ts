import type { Flags } from "@berth/contract";
import type { Tx } from "../database/database.ts";
import { readFlags } from "../identity/flags.ts";
import { enqueueMail } from "../mail/outbox.ts";
import { layOut } from "../mail/render-email.ts";
import { type Notice, writeNotice } from "./notifications.ts";

interface Options {
  readonly appUrl: string;
  readonly brandName: string;
}

/** Tells a user by bell, and by mail where their flags say so (G49); both join the transaction of what is told. */
export function announcer({ appUrl, brandName }: Options): (tx: Tx, notice: Notice) => Promise<void> {
  return async (tx, notice) => {
    // Asked for twice, the bell has it already: then the mail was decided on, too.
    if (!(await writeNotice(tx, notice))) return;
    const user = await tx
      .selectFrom("profiles")
      .select(["email", "name"])
      .where("user_id", "=", notice.userId)
      .executeTakeFirst();
    if (!user?.email || !(await readFlags(tx, notice.userId))[flagOf(notice.cause)]) return;
    const { title, body, link, userId, cause } = notice;
    const letter = layOut({
      brandName,
      name: user.name,
      subject: title,
      paragraphs: [body],
      ...(link !== null && { button: { label: "Open", url: `${appUrl}${link}` } }),
      small: [`You choose which mails you get: ${appUrl}/settings?tab=notifications`],
    });
    await enqueueMail(tx, { ...letter, userId, to: user.email, cause: `notice:${userId}:${cause}` });
  };
}

const flags: readonly (readonly [causes: RegExp, flag: keyof Flags])[] = [
  [/^(refund|refunded|refund-declined|dispute|dispute-over|disputed):/, "billingAlerts"],
  [/^(sign-in-copied|password-changed|suspended):/, "securityAlerts"],
];

function flagOf(cause: string): keyof Flags {
  return flags.find(([causes]) => causes.test(cause))?.[1] ?? "emailNotifications";
}
