import { type Catalogue, notOffered, pricesAt, quote } from "@berth/contract";
import type { Tx } from "../../database/database.ts";
import { accountHold } from "../disputes/account-hold.ts";
import type { OrderRow } from "../provider/payments-deps.ts";
import { lateMinutes, minutesAfter } from "./deadlines.ts";

/**
 * Whether a payment at `now` may still buy what was ordered (G314): for no account on hold, and for an order that ended
 * unpaid only within an hour of its end and at today's price.
 */
export async function stillBuys(tx: Tx, catalogue: Catalogue, order: OrderRow, now: Date): Promise<boolean> {
  if (await accountHold(tx, order.user_id)) return false;
  if (!order.closed_at) return true;
  return now <= minutesAfter(order.closed_at, lateMinutes) && priceAt(catalogue, order, now) === order.amount_minor;
}

/** Undefined for what is no longer sold. A type that is no longer sold may still be extended (G126). */
function priceAt(catalogue: Catalogue, order: OrderRow, now: Date): number | undefined {
  const { container_type, gpu_count, duration_hours: duration, currency } = order;
  const prices = pricesAt(catalogue, now);
  const wanted = { gpu_count, duration, currency, ...(!order.extends && { container_type }) };
  return notOffered(catalogue, prices, wanted) ? undefined : quote(prices, gpu_count, duration, currency).amountMinor;
}
