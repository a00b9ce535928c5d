import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { noLease } from "../../database/work-queue.ts";
import { releaseHold } from "../../environments/allocation/hold.ts";
import type { OrderRow } from "../provider/payments-deps.ts";

/** Ends an open order and releases its hold; returns false when it is no longer open. Polling goes on: money can come late. */
export async function endOpenOrder(tx: Tx, id: string, status: "cancelled" | "expired"): Promise<boolean> {
  return endOrder(tx, id, "open", { status });
}

/** Ends those of the locked orders that are unpaid. Nobody can pay a draft, so it is not polled any more. */
export async function endUnpaidOrders(tx: Tx, locked: readonly Pick<OrderRow, "id" | "status">[]): Promise<void> {
  for (const { id, status } of locked) {
    if (status === "open") await endOpenOrder(tx, id, "cancelled");
    if (status === "draft") await endOrder(tx, id, "draft", { status: "expired", due_at: null });
  }
}

interface Ended {
  readonly status: "cancelled" | "expired";
  readonly due_at?: null;
}

async function endOrder(tx: Tx, id: string, from: "draft" | "open", ended: Ended): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("orders")
    .set({ ...ended, closed_at: sql`now()`, ...noLease })
    .where("id", "=", id)
    .where("status", "=", from)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await releaseHold(tx, id);
  return true;
}
