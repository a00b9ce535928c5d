import { sql } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import { instant } from "../../environments/notice.ts";
import { type Shortened, shorten } from "../../environments/time/extend.ts";
import { updateNetRevenue } from "../ledger/update-net-revenue.ts";
import type { OrderRow } from "../provider/payments-deps.ts";
import { type RefundReason, refundPayment } from "./create-refund.ts";
import { prorate, type Usage, usageOfOrder } from "./usage-of-order.ts";

type Bought = Pick<OrderRow, "id" | "extends" | "hours">;

/**
 * Takes all hours of a fully refunded order, bonus hours included, off the end of its environment (G108). Hours of other
 * orders stay. The caller has locked the order's row. Returns undefined when the environment has ended or is ending.
 */
export async function takeBackHours(tx: Tx, order: Bought): Promise<Shortened | undefined> {
  await sql`update orders set hours = 0 where id = ${order.id}`.execute(tx);
  return await shortenEnvironment(tx, order, order.hours);
}

/** Takes the unused share of an order's hours off its environment; the same share of the price is refunded. */
export async function takeBackUnused(
  tx: Tx,
  order: Bought,
  { unusedSeconds, totalSeconds }: Usage,
): Promise<Shortened | undefined> {
  const share = unusedSeconds / totalSeconds;
  await sql`update orders set hours = hours * ${1 - share} where id = ${order.id}`.execute(tx);
  return await shortenEnvironment(tx, order, order.hours * share);
}

/**
 * After a dispute took part of the price: takes the unused time back and refunds that share of what is still paid (G108).
 */
export async function refundRest(tx: Tx, order: Bought, payment: RowOf<"payments">, announce: Announce): Promise<void> {
  const usage = await usageOfOrder(tx, order.id);
  await takeBackUnused(tx, order, usage);
  await refundUnused(tx, payment, usage, "discretionary", announce);
}

/** Refunds the unused share of what is still paid, rounded down, and updates the net revenue. */
export async function refundUnused(
  tx: Tx,
  payment: RowOf<"payments">,
  usage: Usage,
  reason: RefundReason,
  announce: Announce,
): Promise<void> {
  const paidMinor = payment.amount_minor - payment.refund_minor;
  await refundPayment(tx, payment, reason, announce, prorate(paidMinor, usage));
  await updateNetRevenue(tx, payment.id);
}

/** Text for the owner about the remaining time; empty when the environment had ended before. */
export function remainingTimeText(subdomain: string, left: Shortened | undefined): string {
  if (!left) return "";
  if (left.ends) return ` With this refund no paid time of ${subdomain} is left, so it ends now.`;
  if (left.expiresAt) return ` ${subdomain} runs until ${instant(left.expiresAt)}, with the time that stays paid.`;
  return ` ${subdomain} keeps ${(left.bankedSeconds / 3600).toFixed(1)} banked hours, which stay paid.`;
}

async function shortenEnvironment(
  tx: Tx,
  { id, extends: extended }: Bought,
  hours: number,
): Promise<Shortened | undefined> {
  const own = tx.selectFrom("environments").select("id").where("order_id", "=", id);
  const environmentId = extended ?? (await own.executeTakeFirst())?.id;
  return environmentId === undefined ? undefined : await shorten(tx, environmentId, hours);
}
