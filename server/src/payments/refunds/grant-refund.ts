import { payingAccount } from "@berth/contract";
import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import type { Shortened } from "../../environments/time/extend.ts";
import { returnCredits } from "../credits/return-credits.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { settlingPayment } from "../ledger/lock-payment.ts";
import { updateNetRevenue } from "../ledger/update-net-revenue.ts";
import type { OrderRow } from "../provider/payments-deps.ts";
import { createRefund } from "./create-refund.ts";
import { lockOrder } from "./request-refund.ts";
import { remainingTimeText, takeBackHours, takeBackUnused } from "./take-back-hours.ts";
import { prorate, type Usage, usageOfOrder } from "./usage-of-order.ts";

type Request = RowOf<"refund_requests">;

interface Decision {
  readonly db: Db;
  readonly announce: Announce;
  readonly author: Author;
  /** Our id or the provider's. */
  readonly orderId: string;
  /** From the operator to the user; may be empty for a granted refund. */
  readonly message: string;
  /** Grants another refund after an earlier decision. */
  readonly again?: boolean;
  /** What was refunded of the order when the author looked, in minor units: another sum is refused (G146). */
  readonly refundedMinor?: number;
}

/** All that is left, the share of the time that is left, or so many minor units. */
export type Share = "full" | "prorated" | number;

/** Refusal of an operator's refund; the message gives the reason. */
export class RefundRefused extends Error {}

export interface Granted {
  /** False for a repeated call: nothing was done. */
  readonly isNew: boolean;
  readonly currency: string;
  readonly amountMinor: number;
  /** The environment's remaining time; absent when the refund does not change it. */
  readonly left?: Shortened | undefined;
}

/**
 * Refunds an order in one transaction, and grants its open request; the refund sender sends the money. A prorated or full
 * refund also takes its hours off the environment (G108), an amount does not. An order that was decided before is refunded
 * again only with `again`.
 */
export async function grantRefund(decision: Decision, share: Share): Promise<Granted> {
  return decision.db.transaction().execute((tx) => grant(tx, decision, share));
}

/** Grants the refund, passes the result to `read`, and rolls everything back. */
export async function previewRefund<T>(
  decision: Decision,
  share: Share,
  read: (tx: Tx, granted: Granted) => Promise<T>,
): Promise<T> {
  const tx = await decision.db.startTransaction().execute();
  try {
    return await read(tx, await grant(tx, decision, share));
  } finally {
    await tx.rollback().execute();
  }
}

async function grant(tx: Tx, decision: Decision, share: Share): Promise<Granted> {
  const { announce, author, orderId, message, again } = decision;
  const { order, request } = await findRequest(tx, orderId);
  const { id, currency, status } = order;
  const payment = await settlingPayment(tx, id).forUpdate().executeTakeFirst();
  if (payment) expectSeen(decision, payment);
  const grants = await grantsOf(tx, payment);
  if (request?.status !== "open" && !again) {
    const [before] = grants;
    if (request?.status === "declined") throw new RefundRefused(`The request of ${id} was declined already`);
    if (before) return { isNew: false, currency, amountMinor: before.amount_minor };
  }
  if (!payment || status !== "fulfilled") throw new RefundRefused(whyNone(order));
  const leftMinor = payment.amount_minor - payment.refund_minor;
  const usage = await usageOfOrder(tx, id);
  const amountMinor = amountOf(share, leftMinor, prorate(leftMinor, usage));
  if (!Number.isSafeInteger(amountMinor) || amountMinor < 1 || amountMinor > leftMinor)
    throw new RefundRefused(`1 to ${leftMinor} minor units (${currency}) of ${id} can be refunded, not ${amountMinor}`);
  const isAsked = request?.status === "open";
  const source = isAsked ? request.id : `operator:${grants.length}`;
  const refundId = await createRefund(tx, payment, { reason: "discretionary", amountMinor, source });
  await updateNetRevenue(tx, payment.id);
  const left = await takeBackTime(tx, order, amountMinor === leftMinor ? "full" : share, usage, announce);
  if (isAsked) await decide(tx, request.id, { status: "granted", answer: message, refund_id: refundId });
  const amount = formatAmount(amountMinor, currency);
  await announce(tx, {
    userId: order.user_id,
    cause: `refund:${refundId}`,
    title: "Refund granted",
    body: `${amount} of ${order.subdomain} is on its way back to ${payingAccount(payment.method).name}; banks take 4-5 business days.${remainingTimeText(order.subdomain, left)}${message && ` ${message}`}`,
    link: `/billing/orders/${id}`,
  });
  await recordAct(tx, author, "refund.grant", id, { amount_minor: amountMinor, currency, share: String(share) });
  return { isNew: true, currency, amountMinor, left };
}

function whyNone({ id, status, gateway }: OrderRow): string {
  return gateway === "credit"
    ? `${id} was covered by a credit: no money was paid. Grant a credit instead`
    : `${id} is ${status}: it is delivered or refunded automatically`;
}

/** A repeated call, or one after somebody else's refund, was decided on figures that no longer hold. */
function expectSeen({ refundedMinor, orderId }: Decision, { refund_minor, currency }: RowOf<"payments">): void {
  if (refundedMinor === undefined || refundedMinor === refund_minor) return;
  const now = formatAmount(refund_minor, currency);
  throw new RefundRefused(`Something else happened to ${orderId}: ${now} of it is refunded by now. Look at it again.`);
}

function amountOf(share: Share, leftMinor: number, proratedMinor: number): number {
  if (share === "full") return leftMinor;
  return share === "prorated" ? Math.min(leftMinor, proratedMinor) : share;
}

/** Declines the open request of an order with the operator's message; returns false when it was declined before. */
export async function declineRefund({ db, announce, author, orderId, message }: Decision): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { order, request } = await findRequest(tx, orderId);
    if (!request) throw new RefundRefused(`There is no refund request for ${orderId}`);
    if (request.status === "granted") throw new RefundRefused(`The request of ${orderId} was granted already`);
    if (request.status === "declined") return false;
    await decide(tx, request.id, { status: "declined", answer: message, refund_id: null });
    await announce(tx, {
      userId: order.user_id,
      cause: `refund-declined:${request.id}`,
      title: "Refund not granted",
      body: `You asked for a refund of ${order.subdomain}. ${message}`,
      link: `/billing/orders/${order.id}`,
    });
    await recordAct(tx, author, "refund.decline", order.id);
    return true;
  });
}

/** Locks the order and returns it with its open request, else the newest one. */
async function findRequest(tx: Tx, orderId: string) {
  const order = await lockOrder(tx, orderId);
  if (!order) throw new RefundRefused(`There is no order ${orderId}`);
  const request = await tx
    .selectFrom("refund_requests")
    .selectAll()
    .where("order_id", "=", order.id)
    .orderBy(sql`status = 'open'`, "desc")
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return { order, request };
}

/** Earlier grants of a payment, newest first. */
async function grantsOf(tx: Tx, payment: RowOf<"payments"> | undefined) {
  return await tx
    .selectFrom("refunds")
    .select("amount_minor")
    .where("payment_id", "=", payment?.id ?? "")
    .where("reason", "=", "discretionary")
    .orderBy("created_at", "desc")
    .execute();
}

async function decide(tx: Tx, id: string, change: Pick<Request, "status" | "answer" | "refund_id">): Promise<void> {
  await tx
    .updateTable("refund_requests")
    .set({ ...change, decided_at: sql`now()` })
    .where("id", "=", id)
    .execute();
}

/** For a full refund the order becomes `refunding`; the arrival of the refund closes it. Credits come back alike (G154). */
async function takeBackTime(
  tx: Tx,
  order: OrderRow,
  share: Share,
  usage: Usage,
  announce: Announce,
): Promise<Shortened | undefined> {
  if (share === "prorated") {
    await returnCredits(tx, order, usage.unusedSeconds / usage.totalSeconds, announce);
    return await takeBackUnused(tx, order, usage);
  }
  if (share !== "full") return undefined;
  await returnCredits(tx, order, 1, announce);
  await sql`
    update orders set status = 'refunding', due_at = coalesce(due_at, now() + interval '1 day')
    where id = ${order.id}`.execute(tx);
  return await takeBackHours(tx, order);
}
