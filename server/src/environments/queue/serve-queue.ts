import { reservationMinutes } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { slotTimes } from "../leases/free-times.ts";
import { canRun, leaseGpus, type Machine, type Place, releaseLeases } from "../leases/gpu-leases.ts";

/** Waiting, or holding a reservation that has not been used. */
export interface QueueEntry {
  readonly id: string;
  readonly userId: string;
  readonly gpuCount: number;
  readonly status: "waiting" | "held";
  readonly hostId: string | null;
  readonly lapsed: boolean;
}

/** A machine whose free GPUs are all reserved for the entry of one user. */
export interface ReservedMachine extends Machine {
  readonly userId: string;
}

/**
 * The whole queue in its order. Every transaction that changes it locks its rows in this order and before any host. An entry that is
 * inserted meanwhile is not in it and stays untouched until the next pass: its row may be locked by a transaction that
 * waits for a host of ours.
 */
export async function lockQueue(tx: Tx): Promise<readonly QueueEntry[]> {
  const { rows } = await sql<QueueEntry>`
    select id, user_id as "userId", gpu_count as "gpuCount", status, kept_host_id as "hostId",
      status = 'held' and told_at is not null and held_until <= now() as lapsed
    from queue_entries where status in ('waiting', 'held') order by place for update`.execute(tx);
  return rows;
}

/**
 * Reserves GPUs for ten minutes in the order of the queue: the first entry whose count is free on one machine, then the next,
 * so that small requests use what a big one cannot. That alone would starve the big one, because GPUs come free one by
 * one. So the first entry that cannot be served gets a machine to itself, but only where all of it comes free within the
 * time that the entry has waited: after two hours of waiting, within two. No entry waits for ever, and no machine
 * idles longer than somebody waited. Returns that machine; nothing else is leased there. Reservations whose owners were notified
 * and that are not over go on.
 */
export async function serveQueue(tx: Tx, queue: readonly QueueEntry[]): Promise<ReservedMachine | undefined> {
  for (const { id } of queue.filter(({ lapsed }) => lapsed)) await closeEntry(tx, id, "lapsed");
  const waiting = queue.filter(({ status }) => status === "waiting");
  if (waiting.length === 0) return undefined;
  await sql`select 1 from hosts where drained_at is null order by id for no key update`.execute(tx);
  let reserved: (ReservedMachine & { readonly id: string }) | undefined;
  let unservable = Number.POSITIVE_INFINITY;
  for (const { id, userId, gpuCount } of waiting) {
    // An earlier entry asked for as little or less and was not served.
    if (gpuCount >= unservable || (await reserve(tx, id, gpuCount, reserved))) continue;
    unservable = gpuCount;
    const machine = reserved ? undefined : await machineToReserve(tx, id, gpuCount);
    if (machine) reserved = { id, userId, ...machine };
  }
  await sql`
    update queue_entries q set kept_host_id = kept.host_id, kept_node = coalesce(kept.node, '')
    from queue_entries o left join (values (${reserved?.id ?? null}, ${reserved?.hostId ?? null}, ${reserved?.node ?? null}))
      kept (id, host_id, node) on kept.id = o.id
    where q.id = o.id and q.id = any(${waiting.map(({ id }) => id)}) and q.status = 'waiting'
      and (q.kept_host_id is distinct from kept.host_id or q.kept_node is distinct from coalesce(kept.node, ''))`.execute(
    tx,
  );
  return reserved;
}

/** Whether at least so many GPUs are reserved for the user. */
export async function hasReservation(tx: Tx, userId: string, gpuCount: number): Promise<boolean> {
  const { rows } = await sql`
    select from queue_entries where user_id = ${userId} and status = 'held' and gpu_count >= ${gpuCount}`.execute(tx);
  return rows.length > 0;
}

/** Leases the GPUs for the entry for ten minutes. False where no host has enough. */
async function reserve(tx: Tx, id: string, gpuCount: number, exclude: Machine | undefined): Promise<boolean> {
  const request = { gpuCount, place: null, exclude, holdUntil: null };
  if (!(await leaseGpus(tx, { holderKind: "queue", holderId: id, ...request }))) return false;
  await sql`
    with begun as (
      update queue_entries set status = 'held', kept_host_id = null, held_until = now() + make_interval(mins => ${reservationMinutes})
      where id = ${id} returning held_until)
    update gpu_leases set hold_until = begun.held_until from begun
    where holder_kind = 'queue' and holder_id = ${id} and released_at is null`.execute(tx);
  return true;
}

/**
 * The machine that serves this entry soonest, if that is within the time it has waited. The one it has already stays, with
 * what was gathered there. The reservations of others count as used.
 */
async function machineToReserve(tx: Tx, id: string, gpuCount: number): Promise<Machine | undefined> {
  const { rows } = await sql<Machine>`
    with ranked as (
      select host_id, node, free_at, row_number() over (partition by host_id, node order by free_at) as n from (${slotTimes}) slots
      where holder_kind is distinct from 'queue')
    select host_id as "hostId", node from ranked, queue_entries q
    where n = ${gpuCount} and q.id = ${id} and free_at - now() <= now() - q.asked_at
    order by host_id is distinct from q.kept_host_id or node <> q.kept_node, free_at, host_id, node limit 1`.execute(
    tx,
  );
  return rows[0];
}

interface ReservationRequest {
  readonly userId: string;
  readonly orderId: string;
  readonly gpuCount: number;
  /** Where the kept files are, if there are any. */
  readonly place: Place | null;
  readonly holdUntil: Date;
}

/**
 * Transfers the user's reservation to their order and frees its rest. Returns the host; undefined where the reservation
 * does not fit: an entry names no type, so its host may be unable to run the order's.
 */
export async function useReservation(
  tx: Tx,
  queue: readonly QueueEntry[],
  { userId, orderId, gpuCount, place, holdUntil }: ReservationRequest,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string; host_id: string; node: string }>`
    select q.id, min(g.host_id) as host_id, min(g.node) as node from queue_entries q
    join gpu_leases l on l.holder_kind = 'queue' and l.holder_id = q.id and l.released_at is null
    join gpus g on g.id = l.gpu_id
    join hosts on hosts.id = g.host_id and away_since is null and ${canRun(orderId)}
    where q.id = any(${ownEntryIds(queue, userId)}) and q.status = 'held'
      and q.gpu_count >= ${gpuCount} group by q.id`.execute(tx);
  const reservation = rows[0];
  if (!reservation || (place && !isAt(place, reservation))) return undefined;
  await sql`
    update gpu_leases set holder_kind = 'order', holder_id = ${orderId}, hold_until = ${holdUntil}
    where id in (select id from gpu_leases
      where holder_kind = 'queue' and holder_id = ${reservation.id} and released_at is null order by gpu_id
      limit ${gpuCount})`.execute(tx);
  await releaseLeases(tx, "queue", reservation.id);
  await sql`
    update queue_entries set status = 'taken', gpu_count = ${gpuCount}, order_id = ${orderId}, closed_at = now()
    where id = ${reservation.id}`.execute(tx);
  return reservation.host_id;
}

const isAt = ({ hostId, node }: Place, at: { readonly host_id: string; readonly node: string }) =>
  hostId === at.host_id && (node ?? at.node) === at.node;

/** Ends the wait of a user who was leased at least as much without a reservation. */
export async function leaveWhenServed(
  tx: Tx,
  queue: readonly QueueEntry[],
  userId: string,
  gpuCount: number,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update queue_entries set status = 'taken', kept_host_id = null, closed_at = now()
    where id = any(${ownEntryIds(queue, userId)})
      and status in ('waiting', 'held') and gpu_count <= ${gpuCount} returning id`.execute(tx);
  for (const { id } of rows) await releaseLeases(tx, "queue", id);
}

const ownEntryIds = (queue: readonly QueueEntry[], userId: string) =>
  queue.filter((each) => each.userId === userId).map(({ id }) => id);

/** Returns the reservation of an unpaid order while it lasts: a dismissed dialog costs no position. */
export async function restoreReservation(tx: Tx, orderId: string): Promise<void> {
  await sql`
    with back as (
      update queue_entries q set status = 'held', order_id = null, closed_at = null
      where order_id = ${orderId} and status = 'taken' and held_until > now()
        and not exists (select 1 from queue_entries o where o.user_id = q.user_id and o.status in ('waiting', 'held'))
        and (select count(*) from gpu_leases where holder_kind = 'order' and holder_id = ${orderId} and released_at is null) = q.gpu_count
      returning id, held_until)
    update gpu_leases set holder_kind = 'queue', holder_id = back.id, hold_until = back.held_until
    from back where holder_kind = 'order' and holder_id = ${orderId} and released_at is null`.execute(tx);
}

/** Ends an entry and frees its GPUs. The notice of a lapsed one is pending from now on. */
export async function closeEntry(tx: Tx, id: string, status: "lapsed" | "left"): Promise<void> {
  await sql`
    update queue_entries set status = ${status}, kept_host_id = null, closed_at = now(), told_at = null
    where id = ${id} and status in ('waiting', 'held')`.execute(tx);
  await releaseLeases(tx, "queue", id);
}
