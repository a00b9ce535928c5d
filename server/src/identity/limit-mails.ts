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
  /** Mails sent to addresses of one domain. */
  readonly domainPerDay: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Rate limits of mailed links (G52, G91): per account, per requesting network and per recipient domain, because an attacker
 * can create many accounts with other people's addresses. No limit reveals whether an account exists (G47): account and
 * network count requests; the domain counts sent mails, but refuses requests for any address.
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
    /** Counts a request from this IP address. Throws TOO_MANY_ATTEMPTS_TRY_LATER. */
    async countRequest(kind: ActionKind, address: string, from: string): Promise<void> {
      const network = addressKey(from);
      refuseUntil(await toDomain.waitMs(domainOf(address)));
      // The account last, so that a refused request does not use up its limit.
      for (const window of [ofHour, ofDay]) refuseUntil(await window.take(network));
      refuseUntil(await links[kind].take(emailKey(address)));
    },
    /** Counts a mail before it is sent. Throws TOO_MANY_ATTEMPTS_TRY_LATER. */
    async countMail(address: string): Promise<void> {
      refuseUntil(await toDomain.take(domainOf(address)));
    },
  };
}

function domainOf(address: string): string {
  return emailKey(address).split("@").at(-1) ?? "";
}
