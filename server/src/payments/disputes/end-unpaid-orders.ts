import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { noLease } from "../../database/work-queue.ts";
import { releaseHold } from "../../environments/allocation/hold.ts";
import type { OrderRow } from "../provider/payments-deps.ts";

/** Ends those of the locked orders that are unpaid, and releases their holds. Polling goes on: money can come late. */
export async function endUnpaidOrders(tx: Tx, locked: readonly Pick<OrderRow, "id" | "status">[]): Promise<void> {
  for (const { id, status } of locked) {
    if (status !== "draft" && status !== "open") continue;
    const ended = status === "open" ? { status: "cancelled" as const } : { status: "expired" as const, due_at: null };
    await tx
      .updateTable("orders")
      .set({ ...ended, closed_at: sql`now()`, ...noLease })
      .where("id", "=", id)
      .execute();
    await releaseHold(tx, id);
  }
}
