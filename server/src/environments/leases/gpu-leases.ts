import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { isExpectedNode } from "../../drivers/expected-node.ts";

/** An unpaid hold may be taken over this long after its end (docs/internals/money.md). */
export const holdGrace = "2 minutes";

type HolderKind = "order" | "environment" | "queue" | "pool";

/** A machine with GPUs: a host, or a node of a host that is a cluster. */
export interface Machine {
  readonly hostId: string;
  /** Empty on a host that is one machine. */
  readonly node: string;
}

/** A host, and its only node that will do; null: any of them. */
export type Place = Pick<Machine, "hostId"> & { readonly node: string | null };

export interface LeaseRequest {
  readonly holderKind: HolderKind;
  readonly holderId: string;
  readonly gpuCount: number;
  /** The order whose type the host must be able to run; without it that of a holder that is an order. */
  readonly orderId?: string;
  /** Where the files already are: then nowhere else will do (G39). */
  readonly place: Place | null;
  /** A machine that is reserved for somebody else (queue/serve-queue.ts). */
  readonly exclude?: Machine | undefined;
  /** End of an order's hold; null for an environment, which holds until it ends. */
  readonly holdUntil: Date | null;
}

/**
 * Leases whole GPUs of one machine and returns the id of its host, or undefined where no machine has enough. Hosts are
 * locked in the order of their ids, so two requests for the last GPUs cannot deadlock (docs/internals/locking.md). An order
 * goes to a host that can run its type, first to one that has the image. The GPUs of warm runs are free too, but come last.
 */
export async function leaseGpus(tx: Tx, request: LeaseRequest): Promise<string | undefined> {
  const { holderId, orderId = holderId, gpuCount, place } = request;
  const hostId = place?.hostId ?? null;
  const hosts = await sql<Candidate>`
    select id, exists (select from ${imagesForOrder(orderId)} where i.host_id = hosts.id and i.state = 'ready') as "isReady"
    from hosts where is_open and (${hostId}::text is null or id = ${hostId})
      and ${gpuCount} <= ${mostGpus} and ${canRun(orderId)} and ${hasRoomForFiles(place)}
    order by id`.execute(tx);
  for (const { id } of await rankHosts(tx, hosts.rows, request)) {
    if (!fittingMachine(await freeGpus(tx, id), request)) continue;
    await sql`select 1 from hosts where id = ${id} for no key update`.execute(tx);
    const free = await chooseGpus(tx, id, request);
    if (!free) continue;
    await insertLeases(tx, request, free);
    return id;
  }
  return undefined;
}

interface Candidate {
  readonly id: string;
  /** The image of the ordered type is there. */
  readonly isReady: boolean;
}

/**
 * Hosts with the image first, then those that need not end a warm run, then by id. A ranking in another order than the
 * ids locks all of them by id first (docs/internals/locking.md).
 */
async function rankHosts(tx: Tx, hosts: readonly Candidate[], request: LeaseRequest): Promise<readonly Candidate[]> {
  const ids = hosts.map(({ id }) => id);
  const ready = hosts.toSorted((one, other) => Number(other.isReady) - Number(one.isReady));
  const pool = hosts.length > 1 && (await sql`select from warm_runs where host_id = any(${ids}) limit 1`.execute(tx));
  const hasPool = pool && pool.rows.length > 0;
  if (!hasPool && ready.every((host, at) => host === hosts[at])) return hosts;
  await sql`select 1 from hosts where id = any(${ids}) order by id for no key update`.execute(tx);
  if (!hasPool) return ready;
  const free = new Set<string>();
  for (const { id } of hosts) {
    const unused = (await freeGpus(tx, id)).filter(({ warm }) => !warm);
    if (fittingMachine(unused, request)) free.add(id);
  }
  const rank = ({ id, isReady }: Candidate) => (isReady ? 0 : 2) + (free.has(id) ? 0 : 1);
  return hosts.toSorted((one, other) => rank(one) - rank(other));
}

/** The images of an order's type on each host; none where the holder is no order. */
const imagesForOrder = (orderId: string | null) =>
  sql`host_images i join orders o on o.id = ${orderId} and o.container_type = i.container_type`;

/** Whether the host of the enclosing query can run the type of an order, now or soon. */
export const canRun = (orderId: string | null) =>
  sql`not exists (select from ${imagesForOrder(orderId)} where i.host_id = hosts.id and i.state = 'unavailable')`;

/** Whether the host of the enclosing query can take files of a new name; kept ones, at their place, are there (G200). */
export const hasRoomForFiles = (place: Place | null) =>
  place !== null
    ? sql`true`
    : sql`(hosts.new_homes is null or hosts.new_homes > (
        select count(distinct l.holder_id) from gpu_leases l join gpus on gpus.id = l.gpu_id
        left join environments e on e.id = l.holder_id
        where gpus.host_id = hosts.id and l.released_at is null and not ${takeable}
          and (l.holder_kind <> 'environment' or e.created_at is null)))`;

/** How many GPUs the largest machine of the host of the enclosing query has. */
export const mostGpus = sql`(
  select coalesce(max(count), 0) from (
    select count(*) from gpus where gpus.host_id = hosts.id and quarantined_at is null group by node) nodes)`;

/** Undefined where there are too few. An order that is taking a warm run at this moment comes first. */
async function chooseGpus(tx: Tx, hostId: string, request: LeaseRequest): Promise<readonly string[] | undefined> {
  const first = async () => fittingMachine(await freeGpus(tx, hostId), request)?.slice(0, request.gpuCount);
  let chosen = await first();
  if (chosen?.some(({ warm }) => warm)) {
    await sql`select 1 from warm_runs where host_id = ${hostId} order by id for update`.execute(tx);
    chosen = await first();
  }
  return chosen?.map(({ id }) => id);
}

async function insertLeases(tx: Tx, request: LeaseRequest, gpuIds: readonly string[]): Promise<void> {
  const { holderKind: holder_kind, holderId: holder_id, holdUntil: hold_until } = request;
  const taken = tx.updateTable("gpu_leases").set({ released_at: sql`now()` }).where("gpu_id", "in", gpuIds);
  await taken.where("released_at", "is", null).where(takeable).execute();
  await endWarmRunsOn(tx, gpuIds);
  await tx
    .insertInto("gpu_leases")
    .values(gpuIds.map((gpu_id) => ({ id: newId(), gpu_id, holder_kind, holder_id, hold_until, released_at: null })))
    .execute();
}

/** Not held by a paid or paying order, an environment or a reservation. */
export const takeable = sql<boolean>`(holder_kind = 'pool' or (holder_kind = 'order' and hold_until < now() - ${holdGrace}::interval))`;

interface FreeGpu extends Machine {
  readonly id: string;
  /** A warm run is on it, or is being removed. */
  readonly warm: boolean;
}

/**
 * The free GPUs of a host's machine that fits best: the one with the fewest that are enough, so that big requests find a
 * whole one later; one where no warm run has to end comes first, one that has yet to join last. Undefined where none has enough.
 */
function fittingMachine(free: readonly FreeGpu[], request: LeaseRequest): readonly FreeGpu[] | undefined {
  const { gpuCount, place, exclude } = request;
  const isExpected = ([first]: readonly FreeGpu[]) => Number(isExpectedNode(first?.node ?? ""));
  const endsWarm = (gpus: readonly FreeGpu[]) => Number(gpus.slice(0, gpuCount).some(({ warm }) => warm));
  return [...Map.groupBy(free, ({ node }) => node).values()]
    .filter(([first, ...others]) => {
      if (!first || 1 + others.length < gpuCount) return false;
      const isExcluded = first.hostId === exclude?.hostId && first.node === exclude.node;
      // CPU slots of a cluster are on no node of their own.
      return !isExcluded && ["", place?.node ?? first.node].includes(first.node);
    })
    .toSorted(
      (one, other) =>
        isExpected(one) - isExpected(other) || endsWarm(one) - endsWarm(other) || one.length - other.length,
    )[0];
}

/** Those without a warm run come first. An id is NVIDIA's UUID or a numbered CPU slot: a stable order, not the index of the machine. */
async function freeGpus(tx: Tx, hostId: string): Promise<readonly FreeGpu[]> {
  const { rows } = await sql<FreeGpu>`
    select id, host_id as "hostId", node, exists (select from warm_runs where gpus.id = any(warm_runs.gpus)) as warm from gpus
    where host_id = ${hostId} and quarantined_at is null and not exists (
      select 1 from gpu_leases where gpu_id = gpus.id and released_at is null and not ${takeable})
      and (select is_open from hosts where id = ${hostId})
    order by warm, length(id), id`.execute(tx);
  return rows;
}

/** How many GPUs of all open hosts can be leased now. */
export const freeGpuCount = sql<number>`(
  select count(*) from gpus join hosts on hosts.id = host_id
  where is_open and quarantined_at is null and not exists (
    select 1 from gpu_leases where gpu_id = gpus.id and released_at is null and not ${takeable}))`;

export async function releaseLeases(tx: Tx, holderKind: HolderKind, holderId: string): Promise<void> {
  await sql`
    update gpu_leases set released_at = now()
    where holder_kind = ${holderKind} and holder_id = ${holderId} and released_at is null`.execute(tx);
}

/** These GPUs were leased to a holder, whose start waits until the warm runs on them have been removed. */
async function endWarmRunsOn(tx: Tx, gpuIds: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update warm_runs set state = 'ending', order_id = null, due_at = now()
    where gpus && ${[...gpuIds]} and state <> 'ending' returning id`.execute(tx);
  for (const { id } of rows) await releaseLeases(tx, "pool", id);
}

/** Quarantines GPUs, with a reason by id: they are not leased again until an operator releases them. Their holders keep them. */
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

/** The open leases of a holder, in a stable order, because the hash of the driver's spec includes it. */
export async function leasesOf(db: Sql, holderKind: HolderKind, holderId: string): Promise<readonly Lease[]> {
  const { rows } = await sql<Lease>`
    select g.id as "gpuId", g.host_id as "hostId", g.kind from gpu_leases l join gpus g on g.id = l.gpu_id
    where holder_kind = ${holderKind} and holder_id = ${holderId} and released_at is null order by g.id`.execute(db);
  return rows;
}
