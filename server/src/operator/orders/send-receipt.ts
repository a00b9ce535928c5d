import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatAmount } from "../../payments/ledger/format-amount.ts";

interface Found {
  readonly id: string;
  readonly user_id: string;
  readonly subdomain: string;
  readonly number: string;
  readonly amount_minor: number;
  readonly currency: string;
}

/** Mails the receipt of an order, with the page where its PDF is. Returns its number. Throws for an order without one. */
export async function sendReceipt(db: Db, announce: Announce, orderId: string, author: Author): Promise<string> {
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Found>`
      select o.id, o.user_id, o.subdomain, r.number, p.amount_minor, p.currency
      from orders o join payments p on p.order_id = o.id and p.settles_order join receipts r on r.payment_id = p.id
      where ${orderId} in (o.id, o.gateway_order_id)`.execute(tx);
    const [found] = rows;
    if (!found) throw new AppError("not_found", `There is no order ${orderId} with a receipt`);
    const { id, user_id: userId, subdomain, number, amount_minor, currency } = found;
    await announce(tx, {
      userId,
      cause: `receipt:${newId()}`,
      title: `Receipt ${number}`,
      body: `You paid ${formatAmount(amount_minor, currency)} for ${subdomain}. The receipt is on the page of the order, as a PDF too.`,
      link: `/billing/orders/${id}`,
    });
    await recordAct(tx, author, "order.resend", id, { number });
    return number;
  });
}

/** What was done, for the operator. */
export function receiptText(number: string, sendsMail: boolean): string {
  return sendsMail
    ? `The receipt ${number} is on its way`
    : `The receipt ${number} is in its owner's bell only: mail is off, because SMTP_URL is not set`;
}
