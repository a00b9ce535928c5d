import { type Selectable, sql } from "kysely";
import type { Db, Tx } from "../database/database.ts";
import type { PaymentsTable, RefundRequestsTable } from "../database/payment-tables.ts";
import { endPaidBack } from "../environments/actions.ts";
import { shorten } from "../environments/extend.ts";
import type { Announce } from "../environments/reconciler.ts";
import { owe } from "./ask-refund.ts";
import { formatAmount } from "./format-amount.ts";
import { lowerNet } from "./lower-net.ts";
import type { OrderRow } from "./payments.ts";
import { lockOrder } from "./refund-requests.ts";
import { prorate, usageOfOrder } from "./usage-of-order.ts";

interface Decision {
  readonly db: Db;
  readonly announce: Announce;
  /** By its own id or the provider's. */
  readonly orderId: string;
  /** The operator's own, for the user; may be empty where they are granted. */
  readonly words: string;
}

/** All that is left, the share of the time that is left, or so many minor units. */
export type Share = "full" | "prorated" | number;

/** For the operator: why nothing was done. */
export class RefundRefused extends Error {}

/**
 * Grants the open request of an order, in one transaction; the server's own loop sends the money. What is paid back as
 * time is taken off the environment, and one whose whole payment goes back ends; an amount leaves the time as it is.
 * Asked again for a request that is granted, it changes nothing. Answers the minor units that go back.
 */
export async function grantRefund({ db, announce, orderId, words }: Decision, share: Share): Promise<Granted> {
  return db.transaction().execute(async (tx) => {
    const { order, request } = await findRequest(tx, orderId);
    const { currency } = order;
    if (request.status === "granted") return { isNew: false, currency, amountMinor: await refundedBy(tx, request) };
    expectGrantable(order, request);
    const payment = await lockPayment(tx, order.id);
    const left = payment.amount_minor - payment.refund_minor;
    const usage = await usageOfOrder(tx, order.id);
    const amountMinor = amountOf(share, left, prorate(payment.amount_minor, usage));
    if (!Number.isSafeInteger(amountMinor) || amountMinor < 1 || amountMinor > left)
      throw new RefundRefused(`Of ${order.id} 1 to ${left} minor units (${currency}) can go back, not ${amountMinor}`);
    const refundId = await owe(tx, payment, { reason: "discretionary", amountMinor, source: request.id });
    await lowerNet(tx, payment.id);
    if (amountMinor === left) await endBought(tx, order);
    else if (share === "prorated") await takeTime(tx, order, usage.unusedSeconds / usage.totalSeconds);
    await decide(tx, request.id, { status: "granted", answer: words, refund_id: refundId });
    await announce(tx, {
      userId: order.user_id,
      cause: `refund:${refundId}`,
      title: "Refund granted",
      body: `${formatAmount(amountMinor, currency)} of ${order.subdomain} is on its way back to your card; banks take 4-5 business days.${words && ` ${words}`}`,
      link: `/billing/orders/${order.id}`,
    });
    return { isNew: true, currency, amountMinor };
  });
}

export interface Granted {
  readonly isNew: boolean;
  readonly currency: string;
  readonly amountMinor: number;
}

function expectGrantable({ id, status }: OrderRow, request: Selectable<RefundRequestsTable>): void {
  if (request.status === "declined") throw new RefundRefused(`The request of ${id} was declined already`);
  if (status !== "fulfilled") throw new RefundRefused(`${id} is ${status}: it is delivered or paid back by itself`);
}

function amountOf(share: Share, leftMinor: number, proratedMinor: number): number {
  if (share === "full") return leftMinor;
  return share === "prorated" ? Math.min(leftMinor, proratedMinor) : share;
}

/** Declines the open request of an order with the operator's words; false when that was done before. */
export async function declineRefund({ db, announce, orderId, words }: Decision): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { order, request } = await findRequest(tx, orderId);
    if (request.status === "granted") throw new RefundRefused(`The request of ${orderId} was granted already`);
    if (request.status === "declined") return false;
    await decide(tx, request.id, { status: "declined", answer: words, refund_id: null });
    await announce(tx, {
      userId: order.user_id,
      cause: `refund-declined:${request.id}`,
      title: "Refund not granted",
      body: `You asked for a refund of ${order.subdomain}. ${words}`,
      link: `/billing/orders/${order.id}`,
    });
    return true;
  });
}

/** The open one, else the newest. */
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
  if (!request) throw new RefundRefused(`Nobody asked for a refund of ${orderId}`);
  return { order, request };
}

function lockPayment(tx: Tx, orderId: string): Promise<Selectable<PaymentsTable>> {
  return tx
    .selectFrom("payments")
    .selectAll()
    .where("order_id", "=", orderId)
    .where("settles_order", "=", true)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

async function refundedBy(tx: Tx, { refund_id }: Selectable<RefundRequestsTable>): Promise<number> {
  const refund = tx.selectFrom("refunds").select("amount_minor").where("id", "=", refund_id);
  return (await refund.executeTakeFirstOrThrow()).amount_minor;
}

async function decide(
  tx: Tx,
  id: string,
  change: Pick<Selectable<RefundRequestsTable>, "status" | "answer" | "refund_id">,
): Promise<void> {
  await tx
    .updateTable("refund_requests")
    .set({ ...change, decided_at: sql`now()` })
    .where("id", "=", id)
    .execute();
}

/** As when the whole price went back by hand: nobody has both (payments.md 2). The refund's arrival closes the order. */
async function endBought(tx: Tx, order: OrderRow): Promise<void> {
  await sql`
    update orders set status = 'refunding', hours = 0, next_check_at = coalesce(next_check_at, now() + interval '1 day')
    where id = ${order.id}`.execute(tx);
  if (order.extends) await shorten(tx, order.extends, order.duration_hours);
  else await endPaidBack(tx, order.id);
}

async function takeTime(tx: Tx, { id, extends: extended, hours }: OrderRow, share: number): Promise<void> {
  const own = tx.selectFrom("environments").select("id").where("order_id", "=", id);
  const environmentId = extended ?? (await own.executeTakeFirst())?.id;
  if (environmentId) await shorten(tx, environmentId, hours * share);
  await sql`update orders set hours = hours * ${1 - share} where id = ${id}`.execute(tx);
}
