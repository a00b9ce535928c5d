import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { formatInstant } from "../format-instant.ts";
import { prorate, usageOfOrder } from "../payments/usage-of-order.ts";

interface Asked {
  readonly order_id: string;
  readonly subdomain: string;
  readonly user_id: string;
  readonly reason: string;
  readonly text: string;
  readonly created_at: Date;
  readonly amount_minor: number;
  readonly refund_minor: number;
  readonly currency: string;
}

/** Every open request, oldest first, with what the operator decides by: three lines each. */
export async function listRefundRequests(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<Asked>`
    select q.order_id, o.subdomain, q.user_id, q.reason, q.text, q.created_at, p.amount_minor, p.refund_minor, p.currency
    from refund_requests q join orders o on o.id = q.order_id join payments p on p.order_id = o.id and p.settles_order
    where q.status = 'open' order by q.created_at, q.id`.execute(db);
  return Promise.all(rows.map(async (asked) => describe(asked, await usageOfOrder(db, asked.order_id))));
}

function describe(asked: Asked, usage: Awaited<ReturnType<typeof usageOfOrder>>): string {
  const { amount_minor: paid, refund_minor: back, currency } = asked;
  const hours = (seconds: number) => (seconds / 3600).toFixed(2);
  const used = `${hours(usage.totalSeconds - usage.unusedSeconds)} of ${hours(usage.totalSeconds)} hours used`;
  const prorated = Math.min(paid - back, prorate(paid, usage));
  return [
    `${asked.order_id} ${asked.subdomain} of ${asked.user_id}, ${asked.reason}, asked ${formatInstant(asked.created_at)} UTC`,
    `  paid ${paid} ${currency}, refunded ${back}, ${used}, prorated ${prorated}`,
    `  ${harmless(asked.text)}`,
  ].join("\n");
}

/** Typed by anybody, shown in a terminal: no escape sequence, and no line that looks like ours. */
function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}
