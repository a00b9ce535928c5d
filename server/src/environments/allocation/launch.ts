import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { openHome } from "../homes/home-records.ts";
import { leasesOf } from "../leases/gpu-leases.ts";
import { newToken } from "../new-token.ts";
import { takeWarmRun } from "../warm-pool/warm-runs.ts";

export interface LaunchRequest {
  readonly orderId: string;
  readonly userId: string;
  readonly containerType: string;
  readonly subdomain: string;
  readonly gpuCount: number;
  readonly durationHours: number;
  readonly orderedAt: Date;
  readonly paidAt: Date;
  /** Not ready by then, it is terminated and reported as undelivered (docs/internals/money.md). */
  readonly giveUpAt: Date;
}

/**
 * Turns the hold of a paid order into an environment that is due now, and returns its id: that of the order's warm run
 * where it has one. A hold that may have lapsed is renewed in the same transaction (`renewHold`). Throws without one.
 */
export async function launch(tx: Tx, request: LaunchRequest): Promise<string> {
  const { orderId, userId, subdomain, gpuCount, paidAt } = request;
  const leases = await leasesOf(tx, "order", orderId);
  const host_id = leases[0]?.hostId;
  if (!host_id || leases.length !== gpuCount)
    throw new Error(`order ${orderId} holds ${leases.length} of ${gpuCount} GPUs`);
  await keepName(tx, request);
  const warm = await takeWarmRun(tx, orderId);
  const id = warm?.id ?? newId();
  const home = warm?.home ?? (await homeOf(tx, userId, subdomain, host_id));
  await leaseToEnvironment(tx, orderId, id);
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
      home,
      secret: newToken(),
      ...(warm ? { warm: true, generation: 1, run_token: warm.run_token, stage: "created" } : { stage: "placed" }),
      requested_at: paidAt,
      give_up_at: request.giveUpAt,
    })
    .execute();
  await openHome(tx, { home, host_id, user_id: userId, subdomain });
  await recordStages(tx, id, request, warm !== undefined);
  return id;
}

async function keepName(tx: Tx, { orderId, userId, subdomain }: LaunchRequest): Promise<void> {
  const { rows } = await sql`
    update subdomain_claims set held_until = null, retained_until = null
    where order_id = ${orderId} and name = ${subdomain} and user_id = ${userId} returning name`.execute(tx);
  if (rows.length === 0) throw new Error(`order ${orderId} does not hold the name ${subdomain}`);
}

async function leaseToEnvironment(tx: Tx, orderId: string, id: string): Promise<void> {
  await sql`
    update gpu_leases set holder_kind = 'environment', holder_id = ${id}, hold_until = null
    where holder_kind = 'order' and holder_id = ${orderId} and released_at is null`.execute(tx);
}

/** The image of a warm run is in place. */
async function recordStages(tx: Tx, environment_id: string, { orderedAt, paidAt }: LaunchRequest, isWarm: boolean) {
  const paid = [
    { stage: "ordered", at: orderedAt },
    { stage: "paid", at: paidAt },
  ];
  const stages = isWarm ? [...paid, { stage: "placed" }, { stage: "image" }] : paid;
  await tx
    .insertInto("launch_stages")
    .values(stages.map((stage) => ({ environment_id, generation: 1, ...stage })))
    .execute();
}

/**
 * The same folder for the same owner and name, whatever environment uses it (G31), and never another owner's or one that a
 * fresh start has left (G203). The folder of a former warm run is known by its row only.
 */
async function homeOf(tx: Tx, userId: string, subdomain: string, hostId: string): Promise<string> {
  const { rows } = await sql<{ home: string; isFormer: boolean }>`
    select home, left_by is not null as "isFormer" from homes
    where user_id = ${userId} and subdomain = ${subdomain} and host_id = ${hostId}`.execute(tx);
  const own = rows.find(({ isFormer }) => !isFormer);
  if (own) return own.home;
  return rows.length > 0 ? newId() : createHash("sha256").update(`${userId}\0${subdomain}`).digest("hex").slice(0, 32);
}

/** The environment that an order launched or extended. */
export async function environmentOfOrder(db: Sql, { id, extends: extended }: { id: string; extends: string | null }) {
  return await db
    .selectFrom("environments")
    .where(extended === null ? "order_id" : "id", "=", extended ?? id)
    .select(["id", "status", "subdomain", "secret"])
    .executeTakeFirst();
}
