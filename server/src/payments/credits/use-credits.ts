import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";

/** Uses every open granted credit for an order (G153). Returns GPU-hours. Concurrent deliveries never use the same one. */
export async function useCredits(tx: Tx, orderId: string, userId: string): Promise<number> {
  const { rows } = await sql<{ gpu_hours: number }>`
    update granted_credits set used_by_order = ${orderId} where id in (
      select id from granted_credits
      where user_id = ${userId} and used_by_order is null and revoked_at is null for update skip locked)
    returning gpu_hours`.execute(tx);
  return rows.reduce((sum, { gpu_hours }) => sum + gpu_hours, 0);
}
