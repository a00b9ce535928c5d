import type { askForRefund, Input, RefundRequest } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { notFound } from "../../http/mount.ts";
import { settlingPayment } from "../ledger/lock-payment.ts";
import type { OrderRow } from "../provider/payments-deps.ts";

/**
 * Stores a user's request for a discretionary refund; an operator decides. `orderId` is ours or the provider's. An unknown
 * order and another user's give the same 404.
 */
export async function requestRefund(
  db: Db,
  userId: string,
  orderId: string,
  { reason, text }: Input<typeof askForRefund>["body"],
): Promise<RefundRequest> {
  return db.transaction().execute(async (tx) => {
    const order = await lockOrder(tx, orderId);
    if (!order || order.user_id !== userId) throw notFound();
    await expectMoneyLeft(tx, order);
    const row = await tx
      .insertInto("refund_requests")
      .values({ id: newId(), order_id: order.id, user_id: userId, reason, text })
      .onConflict((conflict) => conflict.column("order_id").where("status", "=", "open").doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row) return refundRequestOf(row);
    throw new AppError("action_not_allowed", "You have asked for this already. You get an answer by bell and mail.");
  });
}

/** Locks an order against concurrent settlements, refunds and decisions; undefined for an unknown id. */
export function lockOrder(tx: Tx, orderId: string): Promise<OrderRow | undefined> {
  return tx
    .selectFrom("orders")
    .selectAll()
    .where(({ or, eb }) => or([eb("id", "=", orderId), eb("gateway_order_id", "=", orderId)]))
    .forUpdate()
    .executeTakeFirst();
}

/** Wire format. */
function refundRequestOf(row: RowOf<"refund_requests">): RefundRequest {
  const { id, reason, text, status, created_at, decided_at, answer } = row;
  return {
    ...{ id, reason, text, status, answer },
    created_at: created_at.toISOString(),
    decided_at: decided_at?.toISOString() ?? null,
  };
}

async function expectMoneyLeft(tx: Tx, { id, status }: OrderRow): Promise<void> {
  const payment = await settlingPayment(tx, id).executeTakeFirst();
  if (!payment) throw new AppError("action_not_allowed", "This order was not paid: there is nothing to refund.");
  if (status === "refunding" || status === "refunded" || payment.refund_minor === payment.amount_minor)
    throw new AppError("action_not_allowed", "The whole payment has gone back, or is on its way.");
}
