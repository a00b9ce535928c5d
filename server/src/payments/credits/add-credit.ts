import type { Credit } from "@berth/contract";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";

interface NewCredit {
  readonly userId: string;
  readonly gpuHours: number;
  readonly source: Exclude<Credit["source"], "undelivered">;
  /** For its owner to read. */
  readonly note: string;
  /** Starts an environment by itself (G332). */
  readonly alone?: boolean;
  /** Whose refund returned it. */
  readonly fromOrder?: string;
}

/** Adds a credit without a payment (G153). Returns undefined for a deleted account. */
export async function addCredit(
  tx: Tx,
  { userId, gpuHours, source, note, alone = false, fromOrder }: NewCredit,
): Promise<Credit | undefined> {
  const row = await tx
    .insertInto("granted_credits")
    .values({ id: newId(), user_id: userId, gpu_hours: gpuHours, source, note, alone, from_order: fromOrder ?? null })
    .returning(["id", "gpu_hours", "granted_at"])
    .executeTakeFirst();
  return row && { id: row.id, gpu_hours: row.gpu_hours, source, note, alone, granted_at: row.granted_at.toISOString() };
}
