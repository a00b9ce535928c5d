import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/ids.ts";

/** An unpaid hold may be taken over this long after its end (docs/internals/money.md). */
export const holdGrace = "2 minutes";

type HolderKind = "order" | "environment" | "queue" | "pool";

export interface LeaseRequest {
  readonly holderKind: HolderKind;
  readonly holderId: string;
  readonly gpuCount: number;
  /** Set where the files already lie on one host: then no other will do (G39). */
  readonly hostId: string | null;
  /** A host that is kept for somebody else (line.ts). */
  readonly excludeHostId?: string | undefined;
  /** End of an order's hold; null for an environment, which holds until it ends. */
  readonly holdUntil: Date | null;
}

/**
 * Leases whole GPUs on one host and answers which, or undefined where no host has enough. Hosts are locked one after the
 * other in the order of their ids: two askers for the last GPUs take turns, so neither is refused because of a half-done
 * other, and they cannot wait for each other in a circle. Locking the GPU rows with `skip locked` was rejected: two
 * requests for all eight could each lock some and both be refused. An order goes where its type can run, and first to where
 * it is ready. What stands ready for nobody (warm.ts) is as free as the rest, but is left for last. Where either asks for
 * another order than that of the ids, all hosts are locked in that of the ids first, and then tried in the other.
 */
export async function leaseGpus(tx: Tx, request: LeaseRequest): Promise<string | undefined> {
  const { holderId, gpuCount, hostId, excludeHostId } = request;
  const hosts = await sql<Candidate>`
    select id, exists (select from ${imagesForOrder(holderId)} where i.host_id = hosts.id and i.state = 'ready') as "isReady"
    from hosts where is_open and (${hostId}::text is null or id = ${hostId})
      and (select count(*) from gpus where host_id = hosts.id and quarantined_at is null) >= ${gpuCount}
      and id is distinct from ${excludeHostId ?? null} and ${canRun(holderId)}
    order by id`.execute(tx);
  for (const { id } of await rankHosts(tx, hosts.rows, gpuCount)) {
    if ((await freeGpus(tx, id)).length < gpuCount) continue;
    await sql`select 1 from hosts where id = ${id} for no key update`.execute(tx);
    const free = await chooseGpus(tx, id, gpuCount);
    if (free.length < gpuCount) continue;
    await insertLeases(tx, request, free);
    return id;
  }
  return undefined;
}

interface Candidate {
  readonly id: string;
  /** The type that is ordered can be started there at once. */
  readonly isReady: boolean;
}

async function rankHosts(tx: Tx, hosts: readonly Candidate[], gpuCount: number): Promise<readonly Candidate[]> {
  const ids = hosts.map(({ id }) => id);
  const ready = hosts.toSorted((one, other) => Number(other.isReady) - Number(one.isReady));
  const pool = hosts.length > 1 && (await sql`select from warm_runs where host_id = any(${ids}) limit 1`.execute(tx));
  const hasPool = pool && pool.rows.length > 0;
  if (!hasPool && ready.every((host, at) => host === hosts[at])) return hosts;
  await sql`select 1 from hosts where id = any(${ids}) order by id for no key update`.execute(tx);
  if (!hasPool) return ready;
  const free = new Set<string>();
  for (const { id } of hosts) if ((await freeGpus(tx, id)).filter(({ warm }) => !warm).length >= gpuCount) free.add(id);
  const rank = ({ id, isReady }: Candidate) => (isReady ? 0 : 2) + (free.has(id) ? 0 : 1);
  return hosts.toSorted((one, other) => rank(one) - rank(other));
}

/** What each host has of the type of an order; of who is no order nothing is asked. */
const imagesForOrder = (orderId: string | null) =>
  sql`host_images i join orders o on o.id = ${orderId} and o.container_type = i.container_type`;

/** Whether the host of the query around it can, now or soon, run what an order is for. */
export const canRun = (orderId: string | null) =>
  sql`not exists (select from ${imagesForOrder(orderId)} where i.host_id = hosts.id and i.state = 'unavailable')`;

/** Fewer than asked for where there are no more. Whoever is claiming what stands ready at this very moment comes first. */
async function chooseGpus(tx: Tx, hostId: string, gpuCount: number): Promise<readonly string[]> {
  const first = async () => (await freeGpus(tx, hostId)).slice(0, gpuCount);
  let chosen = await first();
  if (chosen.some(({ warm }) => warm)) {
    await sql`select 1 from warm_runs where host_id = ${hostId} order by id for update`.execute(tx);
    chosen = await first();
  }
  return chosen.map(({ id }) => id);
}

async function insertLeases(tx: Tx, request: LeaseRequest, gpuIds: readonly string[]): Promise<void> {
  const { holderKind: holder_kind, holderId: holder_id, holdUntil: hold_until } = request;
  await sql`
    update gpu_leases set released_at = now() where gpu_id = any(${[...gpuIds]}) and released_at is null and ${takeable}`.execute(
    tx,
  );
  await endWarmRunsOn(tx, gpuIds);
  await tx
    .insertInto("gpu_leases")
    .values(gpuIds.map((gpu_id) => ({ id: newId(), gpu_id, holder_kind, holder_id, hold_until, released_at: null })))
    .execute();
}

/** Held by nobody who has paid, is paying, or has a turn. */
const takeable = sql`(holder_kind = 'pool' or (holder_kind = 'order' and hold_until < now() - ${holdGrace}::interval))`;

interface FreeGpu {
  readonly id: string;
  /** Something stands ready on it, or is being removed. */
  readonly warm: boolean;
}

/** Those on which nothing stands come first. */
async function freeGpus(tx: Tx, hostId: string): Promise<readonly FreeGpu[]> {
  const { rows } = await sql<FreeGpu>`
    select id, exists (select from warm_runs where gpus.id = any(warm_runs.gpus)) as warm from gpus
    where host_id = ${hostId} and quarantined_at is null and not exists (
      select 1 from gpu_leases where gpu_id = gpus.id and released_at is null and not ${takeable})
      and (select is_open from hosts where id = ${hostId})
    order by warm, length(id), id`.execute(tx);
  return rows;
}

/** GPUs on all open hosts together that are leased to nobody who has paid, is paying, or has a turn. */
export const freeGpuCount = sql<number>`(
  select count(*) from gpus join hosts on hosts.id = host_id
  where is_open and quarantined_at is null and not exists (
    select 1 from gpu_leases where gpu_id = gpus.id and released_at is null and not ${takeable}))`;

export async function releaseLeases(tx: Tx, holderKind: HolderKind, holderId: string): Promise<void> {
  await tx
    .updateTable("gpu_leases")
    .set({ released_at: sql`now()` })
    .where("holder_kind", "=", holderKind)
    .where("holder_id", "=", holderId)
    .where("released_at", "is", null)
    .execute();
}

/** These GPUs were leased to somebody, who waits until whatever stood ready on them has been removed. */
async function endWarmRunsOn(tx: Tx, gpuIds: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update warm_runs set state = 'ending', order_id = null, due_at = case when claim is null then now() else due_at end
    where gpus && ${[...gpuIds]} and state <> 'ending' returning id`.execute(tx);
  for (const { id } of rows) await releaseLeases(tx, "pool", id);
}

/** For the reason given, by id: leased to nobody any more until an operator releases them; who has them keeps them. */
export async function quarantine(tx: Tx, reasons: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, reason] of reasons)
    await sql`
      update gpus set quarantined_at = now(), quarantine_reason = ${reason}
      where id = ${id} and quarantined_at is null`.execute(tx);
}

export interface Lease {
  readonly gpuId: string;
  readonly hostId: string;
  readonly kind: "gpu" | "cpu";
}

/** What a holder has now, in a steady order: the driver's spec is hashed over it. */
export async function leasesOf(
  db: Sql,
  holderKind: "order" | "environment",
  holderId: string,
): Promise<readonly Lease[]> {
  return await db
    .selectFrom("gpu_leases")
    .innerJoin("gpus", "gpus.id", "gpu_leases.gpu_id")
    .where("holder_kind", "=", holderKind)
    .where("holder_id", "=", holderId)
    .where("released_at", "is", null)
    .orderBy("gpus.id")
    .select(["gpus.id as gpuId", "gpus.host_id as hostId", "gpus.kind"])
    .execute();
}

/**
 * Every GPU that can be leased, or that this order could be run on, and when it is free by what is known now, as
 * `id, host_id, holder_kind, free_at`.
 */
const slotTimesFor = (orderId: string | null) => sql`
  select gpus.id, gpus.host_id, l.holder_kind, case
      when l.id is null or l.holder_kind = 'pool' then now()
      when l.holder_kind = 'order' then l.hold_until + ${sql.lit(holdGrace)}::interval
      when l.holder_kind = 'queue' then l.hold_until
      else coalesce(e.expires_at, now() + make_interval(hours => coalesce(e.duration_hours, 1)))
    end as free_at
  from gpus join hosts on hosts.id = gpus.host_id
  left join gpu_leases l on l.gpu_id = gpus.id and l.released_at is null
  left join environments e on l.holder_kind = 'environment' and e.id = l.holder_id
  where quarantined_at is null and is_open and ${canRun(orderId)}`;

export const slotTimes = slotTimesFor(null);

export interface FreeTime {
  readonly gpuCount: number;
  /** When this many are free on one host, by what is known now; not after now when they are free. Null: kept for who waits. */
  readonly freeAt: Date | null;
  readonly freeNow: boolean;
}

/**
 * For every count that some host (or the given one, or one that can run the given order) could ever serve: when it is free
 * (G35). A holder that has not answered yet is counted with its whole duration from now on.
 */
export async function freeTimes(
  db: Sql,
  hostId: string | null = null,
  orderId: string | null = null,
): Promise<readonly FreeTime[]> {
  const { rows } = await sql<FreeTime>`
    with slots as (
      select host_id, case when host_id in (select kept_host_id from queue_entries where kept_host_id is not null)
        then null else free_at end as free_at
      from (${slotTimesFor(orderId)}) known where ${hostId}::text is null or host_id = ${hostId}),
    ranked as (select free_at, row_number() over (partition by host_id order by free_at) as n from slots)
    select n as "gpuCount", min(free_at) as "freeAt", coalesce(min(free_at) <= now(), false) as "freeNow"
    from ranked group by n order by n`.execute(db);
  return rows;
}

/** The refusal in words, with the time that G35 asks for. */
export async function shortageText(
  db: Sql,
  gpuCount: number,
  hostId: string | null,
  orderId: string | null = null,
): Promise<string> {
  const time = (await freeTimes(db, hostId, orderId)).find((each) => each.gpuCount === gpuCount);
  if (!time && (await isAnyUnreachable(db, hostId)))
    return `${hostId ? "The machine that has these files" : "A machine"} does not answer right now. Try again in a few minutes`;
  if (!time && hostId) return "The machine that has these files takes no new environments";
  if (!time) return `No machine has ${gpuCount === 1 ? "1 GPU" : `${gpuCount} GPUs`}`;
  if (!time.freeAt) return "Not enough GPUs are free right now. The next are for who has waited longest";
  const what = gpuCount === 1 ? "1 GPU is" : `${gpuCount} GPUs are`;
  const when = time.freeAt.toISOString().slice(0, 16).replace("T", " ");
  return `Not enough GPUs are free right now. The next ${what} expected to be free at ${when} UTC`;
}

async function isAnyUnreachable(db: Sql, hostId: string | null): Promise<boolean> {
  const { rows } = await sql`
    select from hosts where away_since is not null and drained_at is null
      and (${hostId}::text is null or id = ${hostId}) limit 1`.execute(db);
  return rows.length > 0;
}
