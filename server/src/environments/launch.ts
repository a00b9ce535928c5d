import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Sql, Tx } from "../database/database.ts";
import { newId } from "../database/ids.ts";
import { openHome } from "./homes.ts";
import { leasesOf } from "./leases.ts";

export interface LaunchRequest {
  readonly orderId: string;
  readonly userId: string;
  readonly containerType: string;
  readonly subdomain: string;
  readonly gpuCount: number;
  readonly durationHours: number;
  readonly orderedAt: Date;
  readonly paidAt: Date;
  /** Not answering by then: terminated and reported as undelivered (payments.md 6). */
  readonly giveUpAt: Date;
}

/**
 * Turns a paid order's hold into an environment that is due now, and answers its id. The hold must be there: take it
 * again (`hold`) in the same transaction where it may have lapsed. Throws if it is not.
 */
export async function launch(tx: Tx, request: LaunchRequest): Promise<string> {
  const { orderId, userId, subdomain, gpuCount, paidAt } = request;
  const leases = await leasesOf(tx, "order", orderId);
  const host_id = leases[0]?.hostId;
  if (!host_id || leases.length !== gpuCount)
    throw new Error(`order ${orderId} holds ${leases.length} of ${gpuCount} GPUs`);
  const id = newId();
  await tx
    .updateTable("gpu_leases")
    .set({ holder_kind: "environment", holder_id: id, hold_until: null })
    .where("holder_kind", "=", "order")
    .where("holder_id", "=", orderId)
    .where("released_at", "is", null)
    .execute();
  const named = await sql`
    update subdomain_claims set held_until = null, retained_until = null
    where order_id = ${orderId} and name = ${subdomain} and user_id = ${userId} returning name`.execute(tx);
  if (named.rows.length === 0) throw new Error(`order ${orderId} does not hold the name ${subdomain}`);
  await tx
    .insertInto("environments")
    .values({
      id,
      order_id: orderId,
      user_id: userId,
      container_type: request.containerType,
      subdomain,
      gpu_count: gpuCount,
      duration_hours: request.durationHours,
      host_id,
      home: homeOf(userId, subdomain),
      secret: newToken(),
      stage: "placed",
      requested_at: paidAt,
      give_up_at: request.giveUpAt,
    })
    .execute();
  await openHome(tx, { home: homeOf(userId, subdomain), host_id, user_id: userId, subdomain });
  await tx
    .insertInto("launch_stages")
    .values([
      { environment_id: id, generation: 1, stage: "ordered", at: request.orderedAt },
      { environment_id: id, generation: 1, stage: "paid", at: paidAt },
    ])
    .execute();
  return id;
}

/** 128 random bits that go into headers and addresses as they are. */
export function newToken(): string {
  return randomBytes(16).toString("hex");
}

/** The same folder for the same owner and name, whatever environment uses it (G31), and never another owner's. */
function homeOf(userId: string, subdomain: string): string {
  return createHash("sha256").update(`${userId}\0${subdomain}`).digest("hex").slice(0, 32);
}

/** The one it launched, or the one it bought more hours for. */
export async function environmentOfOrder(db: Sql, { id, extends: extended }: { id: string; extends: string | null }) {
  return await db
    .selectFrom("environments")
    .where(extended === null ? "order_id" : "id", "=", extended ?? id)
    .select(["id", "status", "subdomain", "secret"])
    .executeTakeFirst();
}
