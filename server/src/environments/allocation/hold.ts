import { texts } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { isUnreachable } from "../hosts/register-host.ts";
import { shortageText } from "../leases/free-times.ts";
import { leaseGpus, leasesOf, releaseLeases } from "../leases/gpu-leases.ts";
import { leaveWhenServed, lockQueue, restoreReservation, serveQueue, useReservation } from "../queue/serve-queue.ts";
import { lockWarmRunOf, reserveWarmRun, returnWarmRun } from "../warm-pool/warm-runs.ts";
import { releaseName, reserveName } from "./name-reservations.ts";

export interface HoldRequest {
  readonly orderId: string;
  readonly userId: string;
  readonly subdomain: string;
  readonly gpuCount: number;
  readonly holdUntil: Date;
}

export type HoldResult =
  | { ok: true; hostId: string }
  | { ok: false; code: "subdomain_taken" | "out_of_stock"; message: string };

/**
 * Holds GPUs on one host and the name for an order (G35), in the caller's transaction; a refusal leaves nothing held.
 * Another call for the same order keeps what it has and moves the end, unless its host is unreachable. Names are locked
 * before hosts, as everywhere (docs/internals/locking.md).
 */
export async function hold(tx: Tx, request: HoldRequest): Promise<HoldResult> {
  const { orderId, userId, subdomain, gpuCount, holdUntil } = request;
  if (!(await reserveName(tx, { name: subdomain, userId, orderId, heldUntil: holdUntil })))
    return { ok: false, code: "subdomain_taken", message: texts.subdomainTaken };
  // Extended first, then counted: another order may take over a lapsed hold at this moment.
  await extendHold(tx, orderId, holdUntil);
  const held = await leasesOf(tx, "order", orderId);
  const [first] = held;
  if (first && held.length === gpuCount && !(await isUnreachable(tx, first.hostId)))
    return { ok: true, hostId: first.hostId };
  await returnWarmRun(tx, orderId);
  await releaseLeases(tx, "order", orderId);
  const home = await hostOfFiles(tx, subdomain, userId);
  const hostId = await leaseInQueueOrder(tx, request, home);
  if (hostId) return { ok: true, hostId };
  await releaseName(tx, orderId);
  return { ok: false, code: "out_of_stock", message: await shortageText(tx, gpuCount, home, orderId) };
}

/**
 * The queue is served before anybody else is leased what is free, in the same transaction: freed GPUs cannot be bought
 * past it.
 */
async function leaseInQueueOrder(tx: Tx, request: HoldRequest, hostId: string | null): Promise<string | undefined> {
  const { orderId, userId, gpuCount, holdUntil } = request;
  const queue = await lockQueue(tx);
  const reserved = queue.length > 0 ? await serveQueue(tx, queue) : undefined;
  const own = queue.length > 0 && (await useReservation(tx, queue, { userId, orderId, gpuCount, hostId, holdUntil }));
  if (own) return own;
  const excludeHostId = reserved?.userId === userId ? undefined : reserved?.hostId;
  const warm = hostId === null ? await reserveWarmRun(tx, { ...request, excludeHostId }) : undefined;
  const holder = { holderKind: "order", holderId: orderId } as const;
  const leased = warm ?? (await leaseGpus(tx, { ...holder, gpuCount, hostId, excludeHostId, holdUntil }));
  if (leased && queue.length > 0) await leaveWhenServed(tx, queue, userId, gpuCount);
  return leased;
}

/** Kept files bind a name to the host they lie on (G39). */
async function hostOfFiles(tx: Tx, subdomain: string, userId: string): Promise<string | null> {
  const { rows } = await sql<{ host_id: string }>`
    select e.host_id from environments e join subdomain_claims c on c.name = e.subdomain
    where c.name = ${subdomain} and c.user_id = ${userId} and c.retained_until > now()
      and e.user_id = ${userId} and e.created_at is not null
    order by e.created_at desc limit 1`.execute(tx);
  return rows[0]?.host_id ?? null;
}

export async function extendHold(tx: Tx, orderId: string, holdUntil: Date): Promise<void> {
  await lockWarmRunOf(tx, orderId);
  await sql`
    update gpu_leases set hold_until = ${holdUntil}
    where holder_kind = 'order' and holder_id = ${orderId} and released_at is null`.execute(tx);
  await sql`
    update subdomain_claims set held_until = ${holdUntil}
    where order_id = ${orderId} and held_until is not null`.execute(tx);
}

/** Releases what an unpaid order holds. The leases of a paid one are its environment's and its name has no end: both stay. */
export async function releaseHold(tx: Tx, orderId: string): Promise<void> {
  const { rows } = await sql`
    select 1 from subdomain_claims where order_id = ${orderId} and held_until is not null for update`.execute(tx);
  if (rows.length > 0) await releaseName(tx, orderId);
  await restoreReservation(tx, orderId);
  await returnWarmRun(tx, orderId);
  await releaseLeases(tx, "order", orderId);
}
