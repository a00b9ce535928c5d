import { readPortLabel, texts } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { isUnreachable } from "../hosts/register-host.ts";
import { shortageText } from "../leases/free-times.ts";
import { leaseGpus, leasesOf, type Machine, type Place, releaseLeases } from "../leases/gpu-leases.ts";
import { homeMovePercent, movingText } from "../move-percent.ts";
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
 * Holds GPUs on one host and the name for a new order (G35), in the caller's transaction; a refusal leaves nothing held.
 * Names are locked before hosts, as everywhere (docs/internals/locking.md).
 */
export async function hold(tx: Tx, request: HoldRequest): Promise<HoldResult> {
  return (await reserveName(tx, request)) ? await holdGpus(tx, request) : nameTaken(request);
}

/** The same for an order that held before: it keeps what it has until the new end, unless its host is unreachable. */
export async function renewHold(tx: Tx, request: HoldRequest): Promise<HoldResult> {
  const { orderId, gpuCount, holdUntil } = request;
  if (!(await reserveName(tx, request))) return nameTaken(request);
  // Extended first, then counted: another order may take over a lapsed hold at this moment.
  await extendHold(tx, orderId, holdUntil);
  const [first, ...others] = await leasesOf(tx, "order", orderId);
  if (first && 1 + others.length === gpuCount && !(await isUnreachable(tx, first.hostId)))
    return { ok: true, hostId: first.hostId };
  await returnWarmRun(tx, orderId);
  await releaseLeases(tx, "order", orderId);
  return await holdGpus(tx, request);
}

function nameTaken({ subdomain }: HoldRequest): HoldResult {
  const message = readPortLabel(subdomain) ? texts.subdomainPort : texts.subdomainTaken;
  return { ok: false, code: "subdomain_taken", message };
}

async function holdGpus(tx: Tx, request: HoldRequest): Promise<HoldResult> {
  const { orderId, userId, subdomain, gpuCount } = request;
  const moving = await movingFiles(tx, subdomain, userId);
  if (moving) {
    await releaseName(tx, orderId);
    return { ok: false, code: "out_of_stock", message: moving };
  }
  const home = await placeOfFiles(tx, subdomain, userId);
  const hostId = await leaseInQueueOrder(tx, request, home);
  if (hostId) return { ok: true, hostId };
  await releaseName(tx, orderId);
  return { ok: false, code: "out_of_stock", message: await shortageText(tx, gpuCount, home, orderId) };
}

/** The queue is served first, in the same transaction: freed GPUs cannot be bought past it. */
async function leaseInQueueOrder(tx: Tx, request: HoldRequest, place: Place | null): Promise<string | undefined> {
  const { userId, gpuCount } = request;
  const queue = await lockQueue(tx);
  if (queue.length === 0) return await leaseFree(tx, { ...request, place });
  const reserved = await serveQueue(tx, queue);
  const own = await useReservation(tx, queue, { ...request, place });
  if (own) return own;
  const exclude = reserved?.userId === userId ? undefined : reserved;
  const leased = await leaseFree(tx, { ...request, place, exclude });
  if (leased) await leaveWhenServed(tx, queue, userId, gpuCount);
  return leased;
}

async function leaseFree(
  tx: Tx,
  request: HoldRequest & { readonly place: Place | null; readonly exclude?: Machine | undefined },
): Promise<string | undefined> {
  const warm = request.place === null ? await reserveWarmRun(tx, request) : undefined;
  return warm ?? (await leaseGpus(tx, { ...request, holderKind: "order", holderId: request.orderId }));
}

/** Why kept files cannot be used now: they are moving to another host (G196). The name is locked, as by `requestMoves`. */
async function movingFiles(tx: Tx, subdomain: string, userId: string): Promise<string | undefined> {
  const { rows } = await sql<{ percent: number | null }>`
    select ${homeMovePercent} as percent from homes h where user_id = ${userId} and subdomain = ${subdomain} and left_by is null`.execute(
    tx,
  );
  const percent = rows.find((row) => row.percent !== null)?.percent ?? null;
  return percent === null ? undefined : movingText(subdomain, percent);
}

/** Kept files bind a name to the host that they lie on, and to its node (G39, G181). */
async function placeOfFiles(tx: Tx, subdomain: string, userId: string): Promise<Place | null> {
  const { rows } = await sql<Place>`
    select e.host_id as "hostId", h.node from environments e join subdomain_claims c on c.name = e.subdomain
    left join homes h on h.home = e.home and h.host_id = e.host_id
    where c.name = ${subdomain} and c.user_id = ${userId} and c.retained_until > now()
      and e.user_id = ${userId} and e.created_at is not null
    order by e.created_at desc limit 1`.execute(tx);
  return rows[0] ?? null;
}

/** The name comes first, because another order that takes over a lapsed hold locks it first too. */
export async function extendHold(tx: Tx, orderId: string, holdUntil: Date): Promise<void> {
  await sql`
    update subdomain_claims set held_until = ${holdUntil}
    where order_id = ${orderId} and held_until is not null`.execute(tx);
  await lockWarmRunOf(tx, orderId);
  await sql`
    update gpu_leases set hold_until = ${holdUntil}
    where holder_kind = 'order' and holder_id = ${orderId} and released_at is null`.execute(tx);
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
