import { plural } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { formatAmount } from "../../payments/ledger/format-amount.ts";
import type { Granted } from "../../payments/refunds/grant-refund.ts";
import { remainingTimeText } from "../../payments/refunds/take-back-hours.ts";
import { prorate, type Usage, usageOfOrder } from "../../payments/refunds/usage-of-order.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { oneLine } from "../print-rows.ts";

interface Asked {
  readonly order_id: string;
  readonly subdomain: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly reason: string;
  readonly text: string;
  readonly created_at: Date;
  readonly amount_minor: number;
  readonly refund_minor: number;
  readonly currency: string;
}

type AskedRefund = Asked & { readonly usage: Usage; readonly prorated_minor: number };

/** Returns the open requests, oldest first, with the facts for a decision. Amounts in minor units. */
export async function readRefundRequests(db: Db): Promise<readonly AskedRefund[]> {
  const { rows } = await sql<Asked>`
    select q.order_id, o.subdomain, q.user_id, pr.email, q.reason, q.text, q.created_at, p.amount_minor, p.refund_minor, p.currency
    from refund_requests q join orders o on o.id = q.order_id join payments p on p.order_id = o.id and p.settles_order
    left join profiles pr on pr.user_id = q.user_id
    where q.status = 'open' order by q.created_at, q.id`.execute(db);
  return Promise.all(
    rows.map(async (asked) => {
      const usage = await usageOfOrder(db, asked.order_id);
      return { ...asked, usage, prorated_minor: prorate(asked.amount_minor - asked.refund_minor, usage) };
    }),
  );
}

/** Three lines. */
export function refundRequestText({ usage, prorated_minor: share, ...asked }: AskedRefund): string {
  const { amount_minor: paid, refund_minor: back, currency } = asked;
  const money = (minor: number) => formatAmount(minor, currency);
  const hours = (seconds: number) => (seconds / 3600).toFixed(2);
  const used = `${hours(usage.totalSeconds - usage.unusedSeconds)} of ${hours(usage.totalSeconds)} hours used`;
  return [
    `${asked.order_id} ${asked.subdomain} of ${asked.user_id}, ${asked.reason}, asked ${formatInstant(asked.created_at)} UTC`,
    `  paid ${money(paid)}, refunded ${money(back)}, ${used}, prorated ${money(share)}`,
    `  ${oneLine(asked.text)}`,
  ].join("\n");
}

interface Concerned {
  readonly id: string;
  readonly extends: string | null;
  readonly asked: boolean;
  readonly subdomain: string;
  readonly user_id: string;
  readonly status: string;
  readonly duration_hours: number;
  readonly amount_minor: number;
  readonly refund_minor: number;
  readonly currency: string;
}

/**
 * Describes a refund, inside its transaction: a line for each paid order of the environment, and the environment's
 * remaining time (G108).
 */
export async function describeRefund(tx: Tx, orderId: string, granted: Granted): Promise<readonly string[]> {
  const { rows } = await sql<Concerned>`
    select o.id, o.extends, o.id = asked.id as asked, o.subdomain, o.user_id, e.status, o.duration_hours, p.amount_minor, p.refund_minor, p.currency
    from orders asked join environments e on e.order_id = asked.id or e.id = asked.extends
    join orders o on o.id = e.order_id or o.extends = e.id join payments p on p.order_id = o.id and p.settles_order
    where asked.id = ${orderId} or asked.gateway_order_id = ${orderId} order by o.paid_at, o.id`.execute(tx);
  const [first] = rows;
  if (!first) return [];
  const { subdomain, user_id, status } = first;
  const fate = granted.left ? remainingTimeText(subdomain, granted.left).trim() : `${subdomain} is left as it is.`;
  return [`${subdomain} of ${user_id}, ${status}`, ...rows.map((row) => concerned(row, granted)), fate];
}

function concerned(row: Concerned, { amountMinor }: Granted): string {
  const money = (minor: number) => formatAmount(minor, row.currency);
  const goes = row.asked ? amountMinor : 0;
  const hours = plural(row.duration_hours, "hour");
  const before = row.refund_minor - goes > 0 ? `, ${money(row.refund_minor - goes)} of it refunded before` : "";
  const now = row.asked
    ? `${money(goes)} goes back now`
    : row.refund_minor === row.amount_minor
      ? "nothing is left of it"
      : "stays paid";
  return `  ${row.id} ${row.extends ? "extension" : "environment"} of ${hours}, paid ${money(row.amount_minor)}${before}: ${now}`;
}
