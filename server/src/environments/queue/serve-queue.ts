import { turnMinutes } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { canRun, leaseGpus, releaseLeases, slotTimes } from "../leases/gpu-leases.ts";

/** Somebody in the line: waiting, or with a turn that has not been taken. */
export interface QueueEntry {
  readonly id: string;
  readonly userId: string;
  readonly gpuCount: number;
  readonly status: "waiting" | "held";
  readonly hostId: string | null;
  readonly lapsed: boolean;
}

/** A host whose GPUs are kept for one who waits. */
export interface ReservedHost {
  readonly hostId: string;
  readonly userId: string;
}

/**
 * The whole line, first come first. Its rows are locked before any host, in their order, by everybody who moves it. Who
 * joins meanwhile is not in it and stays untouched until the next look: their row may be locked by somebody who waits for
 * the host that we have.
 */
export async function lockQueue(tx: Tx): Promise<readonly QueueEntry[]> {
  const { rows } = await sql<QueueEntry>`
    select id, user_id as "userId", gpu_count as "gpuCount", status, kept_host_id as "hostId",
      status = 'held' and told_at is not null and held_until <= now() as lapsed
    from queue_entries where status in ('waiting', 'held') order by place for update`.execute(tx);
  return rows;
}

/**
 * Gives turns: the first in line whose count is free on one host gets it held for ten minutes, then the next, so small
 * requests use what a big one cannot. That alone would starve the big one, for single GPUs that come free would be
 * given away one by one. So the first who cannot be served is passed only for as long as waiting for it would idle a host
 * longer than they have waited: who has waited two hours gets the host to themselves where all of it comes free within two.
 * Nobody waits for ever, because a rental ends and patience grows, and no host idles longer than somebody waited.
 * Answers the host that is kept so; nobody else is given anything there. Turns that were told of and not taken go on.
 */
export async function serveQueue(tx: Tx, line: readonly QueueEntry[]): Promise<ReservedHost | undefined> {
  for (const { id } of line.filter(({ lapsed }) => lapsed)) await closeEntry(tx, id, "lapsed");
  const waiting = line.filter(({ status }) => status === "waiting");
  if (waiting.length === 0) return undefined;
  await sql`select 1 from hosts where drained_at is null order by id for no key update`.execute(tx);
  let kept: (ReservedHost & { readonly id: string }) | undefined;
  let tooMany = Number.POSITIVE_INFINITY;
  for (const { id, userId, gpuCount } of waiting) {
    // Somebody before asked for as little, or less, and could not be helped.
    if (gpuCount >= tooMany || (await reserve(tx, id, gpuCount, kept?.hostId))) continue;
    tooMany = gpuCount;
    const hostId = kept ? undefined : await hostToReserve(tx, id, gpuCount);
    if (hostId) kept = { id, userId, hostId };
  }
  await sql`
    update queue_entries set kept_host_id = case when id = ${kept?.id ?? null} then ${kept?.hostId ?? null} end
    where id = any(${waiting.map(({ id }) => id)}) and status = 'waiting'
      and kept_host_id is distinct from case when id = ${kept?.id ?? null} then ${kept?.hostId ?? null} end`.execute(
    tx,
  );
  return kept;
}

/** Whether as many GPUs are held for a user whose turn it is. */
export async function hasReservation(tx: Tx, userId: string, gpuCount: number): Promise<boolean> {
  const turn = tx.selectFrom("queue_entries").select("id").where("user_id", "=", userId).where("status", "=", "held");
  return (await turn.where("gpu_count", ">=", gpuCount).executeTakeFirst()) !== undefined;
}

async function reserve(tx: Tx, id: string, gpuCount: number, excludeHostId: string | undefined): Promise<boolean> {
  const request = {
    holderKind: "queue",
    holderId: id,
    gpuCount,
    hostId: null,
    excludeHostId,
    holdUntil: null,
  } as const;
  if (!(await leaseGpus(tx, request))) return false;
  await beginReservation(tx, id);
  return true;
}

/** Ten minutes from now. */
async function beginReservation(tx: Tx, id: string): Promise<void> {
  await sql`
    with begun as (
      update queue_entries set status = 'held', kept_host_id = null, held_until = now() + make_interval(mins => ${turnMinutes})
      where id = ${id} returning held_until)
    update gpu_leases set hold_until = begun.held_until from begun
    where holder_kind = 'queue' and holder_id = ${id} and released_at is null`.execute(tx);
}

/**
 * The host that serves this one soonest, if that is soon for how long they have waited; the one that is kept already stays,
 * for what it has gathered would be given away. A turn of somebody else is taken to be used.
 */
async function hostToReserve(tx: Tx, id: string, gpuCount: number): Promise<string | undefined> {
  const { rows } = await sql<{ host_id: string }>`
    with ranked as (
      select host_id, free_at, row_number() over (partition by host_id order by free_at) as n from (${slotTimes}) slots
      where holder_kind is distinct from 'queue')
    select host_id from ranked, queue_entries q
    where n = ${gpuCount} and q.id = ${id} and free_at - now() <= now() - q.asked_at
    order by host_id is distinct from q.kept_host_id, free_at, host_id limit 1`.execute(tx);
  return rows[0]?.host_id;
}

interface ReservationRequest {
  readonly userId: string;
  readonly orderId: string;
  readonly gpuCount: number;
  /** Where the files lie, if they do. */
  readonly hostId: string | null;
  readonly holdUntil: Date;
}

/**
 * What is held for this user becomes their order's, the rest of it free; undefined when it does not serve the order. Who
 * waits has not said for what, so it may be on a host that cannot run it.
 */
export async function useReservation(
  tx: Tx,
  line: readonly QueueEntry[],
  { userId, orderId, gpuCount, hostId, holdUntil }: ReservationRequest,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string; host_id: string }>`
    select q.id, min(g.host_id) as host_id from queue_entries q
    join gpu_leases l on l.holder_kind = 'queue' and l.holder_id = q.id and l.released_at is null
    join gpus g on g.id = l.gpu_id
    join hosts on hosts.id = g.host_id and away_since is null and ${canRun(orderId)}
    where q.id = any(${ownEntryIds(line, userId)}) and q.status = 'held' and q.gpu_count >= ${gpuCount} group by q.id`.execute(
    tx,
  );
  const turn = rows[0];
  if (!turn || (hostId !== null && hostId !== turn.host_id)) return undefined;
  await sql`
    update gpu_leases set holder_kind = 'order', holder_id = ${orderId}, hold_until = ${holdUntil}
    where id in (select id from gpu_leases
      where holder_kind = 'queue' and holder_id = ${turn.id} and released_at is null order by gpu_id limit ${gpuCount})`.execute(
    tx,
  );
  await releaseLeases(tx, "queue", turn.id);
  await sql`
    update queue_entries set status = 'taken', gpu_count = ${gpuCount}, order_id = ${orderId}, closed_at = now()
    where id = ${turn.id}`.execute(tx);
  return turn.host_id;
}

/** Who has got as much as they waited for, or more, some other way does not wait any longer. */
export async function leaveWhenServed(
  tx: Tx,
  line: readonly QueueEntry[],
  userId: string,
  gpuCount: number,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update queue_entries set status = 'taken', kept_host_id = null, closed_at = now()
    where id = any(${ownEntryIds(line, userId)}) and status in ('waiting', 'held') and gpu_count <= ${gpuCount} returning id`.execute(
    tx,
  );
  for (const { id } of rows) await releaseLeases(tx, "queue", id);
}

const ownEntryIds = (line: readonly QueueEntry[], userId: string) =>
  line.filter((each) => each.userId === userId).map(({ id }) => id);

/** An unpaid order that took a turn gives it back while it lasts: a dismissed dialog does not send anyone to the end. */
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

/** Ends a turn or a wait, and frees what is held for it. Of a lapsed one nobody was told yet. */
export async function closeEntry(tx: Tx, id: string, status: "lapsed" | "left"): Promise<void> {
  await sql`
    update queue_entries set status = ${status}, kept_host_id = null, closed_at = now(), told_at = null
    where id = ${id} and status in ('waiting', 'held')`.execute(tx);
  await releaseLeases(tx, "queue", id);
}
