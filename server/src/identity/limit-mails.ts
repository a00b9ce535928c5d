import type { Db } from "../database/database.ts";
import { addressKey } from "../http/limit-requests.ts";
import { countWindows, refuseUntil } from "./count-windows.ts";
import { emailKey } from "./email-key.ts";
import type { ActionKind } from "./identity.ts";

export interface MailLimits {
  /** Links of one kind for one account. */
  readonly linksPerHour: number;
  readonly networkPerHour: number;
  readonly networkPerDay: number;
  /** Mails that were sent to addresses of one domain. */
  readonly domainPerDay: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * How many links are mailed (G52, G91): for each account, each network that asks, and each domain that
 * they go to, because whoever signs up with strangers' addresses has as many accounts as they like. Whether there is an
 * account changes neither a count nor an answer (G47): only the domain counts what was sent, and it refuses everybody.
 */
export function limitMails(db: Db, { linksPerHour, networkPerHour, networkPerDay, domainPerDay }: MailLimits) {
  const ofHour = countWindows(db, { name: "mails of a network, hour", limit: networkPerHour, windowMs: hourMs });
  const ofDay = countWindows(db, { name: "mails of a network, day", limit: networkPerDay, windowMs: dayMs });
  const toDomain = countWindows(db, { name: "mails to a domain", limit: domainPerDay, windowMs: dayMs });
  const links = {
    PASSWORD_RESET: countWindows(db, { name: "reset mails", limit: linksPerHour, windowMs: hourMs }),
    VERIFY_EMAIL: countWindows(db, { name: "mails to confirm", limit: linksPerHour, windowMs: hourMs }),
  };

  return {
    /** One more is asked for, by this IP address. Throws TOO_MANY_ATTEMPTS_TRY_LATER. */
    async ask(kind: ActionKind, address: string, from: string): Promise<void> {
      const network = addressKey(from);
      refuseUntil(await toDomain.look(domainOf(address)));
      // The account last: who may not ask takes none of its mails away.
      for (const window of [ofHour, ofDay]) refuseUntil(await window.take(network));
      refuseUntil(await links[kind].take(emailKey(address)));
    },
    /** One is about to be sent. Throws TOO_MANY_ATTEMPTS_TRY_LATER. */
    async send(address: string): Promise<void> {
      refuseUntil(await toDomain.take(domainOf(address)));
    },
  };
}

function domainOf(address: string): string {
  return emailKey(address).split("@").at(-1) ?? "";
}
