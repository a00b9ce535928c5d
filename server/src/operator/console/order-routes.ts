import {
  declineRefund,
  type ListedOrder,
  ordersPerPage,
  previewRefund,
  readOpenDisputes,
  readOperatedOrder,
  readRefundRequests,
  refundOrder,
  searchOrders,
  sendReceiptAgain,
  type WaitingRefund,
} from "@berth/contract/console/orders";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import { readAudit } from "../../audit/read-audit.ts";
import { mount, success } from "../../http/mount.ts";
import { formatAmount } from "../../payments/ledger/format-amount.ts";
import { declineRefund as decline, grantRefund } from "../../payments/refunds/grant-refund.ts";
import { findOrders, showOrder } from "../orders/find-orders.ts";
import { readDisputes } from "../orders/read-disputes.ts";
import { type RefundChoice, refundChoices } from "../orders/refund-choices.ts";
import { readRefundRequests as readRequests } from "../orders/refund-requests.ts";
import { receiptText, sendReceipt } from "../orders/send-receipt.ts";
import { auditedAct } from "./audited-act.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf, operatorOf } from "./guard-console.ts";

type OrderDeps = Pick<ConsoleDeps, "db" | "announce" | "config">;

const mostActs = 20;

/** Orders and refunds: what `operator -- orders`, `refunds`, `refund` and `decline` do. */
export function orderRoutes(app: FastifyInstance, deps: OrderDeps): void {
  listRoutes(app, deps);
  actRoutes(app, deps);
}

function listRoutes(app: FastifyInstance, { db }: OrderDeps): void {
  mount(app, searchOrders, async ({ body: { text, before } }) => {
    const rows = await findOrders(db, text, { limit: ordersPerPage + 1, before });
    const orders = rows.slice(0, ordersPerPage).map(
      (row): ListedOrder => ({
        ...row,
        status: row.status as ListedOrder["status"],
        created_at: row.created_at.toISOString(),
      }),
    );
    return { ...success, orders, more: rows.length > ordersPerPage };
  });
  mount(app, readRefundRequests, async () => {
    const requests = (await readRequests(db)).map(
      (row): WaitingRefund => ({
        ...row,
        reason: row.reason as WaitingRefund["reason"],
        created_at: row.created_at.toISOString(),
      }),
    );
    return { ...success, requests };
  });
  mount(app, readOpenDisputes, async () => {
    const rows = await readDisputes(db, false);
    return {
      ...success,
      disputes: rows.map((row) => ({ ...row, respond_by: row.respond_by?.toISOString() ?? null })),
    };
  });
  mount(app, readOperatedOrder, async ({ params: { id } }) => {
    const { user_id, email, gateway_order_id: _, ...order } = await showOrder(db, id);
    const [request, acts] = await Promise.all([
      db
        .selectFrom("refund_requests")
        .select(["reason", "text", "created_at"])
        .where("order_id", "=", order.id)
        .where("status", "=", "open")
        .executeTakeFirst(),
      readAudit(db, { subject: order.id, limit: mostActs }),
    ]);
    return {
      ...{ ...success, order, owner: { id: user_id, email }, acts: acts.map(auditedAct) },
      request: request ? { ...request, created_at: request.created_at.toISOString() } : null,
    };
  });
}

function actRoutes(app: FastifyInstance, deps: OrderDeps): void {
  const { db, announce, config } = deps;
  mount(app, previewRefund, async ({ params: { id }, request }) => {
    const author = { actor: operatorOf(request).email, reason: "" };
    const { calculation, full, prorated } = await refundChoices(deps, id, author);
    const { currency, paidMinor, refundedMinor, totalSeconds, unusedSeconds, runs } = calculation;
    return {
      ...{ ...success, currency, paid_minor: paidMinor, refunded_minor: refundedMinor, runs },
      ...{ used_seconds: totalSeconds - unusedSeconds, total_seconds: totalSeconds },
      ...{ full: choiceOf(full), prorated: prorated && choiceOf(prorated) },
    };
  });
  mount(app, refundOrder, async ({ params: { id }, body, request }) => {
    const author = authorOf(request, body.reason);
    const { subdomain } = await showOrder(db, id);
    if (body.typed !== subdomain)
      throw new AppError("invalid_request", `Type ${subdomain}, the name that the order was for`);
    const { share, minor, refunded_minor: refundedMinor, words } = body;
    const decision = { db, announce, author, orderId: id, message: words.trim(), again: true, refundedMinor };
    const { amountMinor, currency } = await grantRefund(decision, share === "amount" ? minor : share);
    return { ...success, message: `${formatAmount(amountMinor, currency)} of ${subdomain} goes back` };
  });
  mount(app, declineRefund, async ({ params: { id }, body, request }) => {
    const author = authorOf(request, body.reason);
    const message = body.words.trim();
    if (message === "") throw new AppError("invalid_request", "Write what the customer reads");
    const { subdomain } = await showOrder(db, id);
    const isNew = await decline({ db, announce, author, orderId: id, message });
    return { ...success, message: `The request for ${subdomain} ${isNew ? "is" : "was"} declined` };
  });
  mount(app, sendReceiptAgain, async ({ params: { id }, body, request }) => {
    const number = await sendReceipt(db, announce, id, authorOf(request, body.reason));
    return { ...success, message: receiptText(number, config.mail.smtp !== undefined) };
  });
}

function choiceOf({ amountMinor, consequences }: RefundChoice) {
  return { minor: amountMinor, consequences: [...consequences] };
}
