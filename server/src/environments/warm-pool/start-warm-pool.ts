import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Changes } from "../../database/changes.ts";
import type { Db, Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { startNotifiedLoop } from "../../database/notified-loop.ts";
import { backoffMs } from "../../database/work-queue.ts";
import type { Driver } from "../../drivers/driver.ts";
import { expectedNodePrefix } from "../../drivers/expected-node.ts";
import { logError } from "../../logging/create-logger.ts";
import { eachHost } from "../hosts/each-host.ts";
import { openHostSlots } from "../hosts/host-slots.ts";
import { newToken } from "../new-token.ts";
import { fetchWarmRuns, nextWarmRunMs, stepWarmRun, type WarmPoolDeps, type WarmResult } from "./warm-pool-step.ts";
import { returnLapsedWarmRuns } from "./warm-runs.ts";

/** How many runs of one GPU each are kept ready on every host that can, by container type. */
type WarmSizes = Readonly<Record<string, number>>;

interface PoolDeps extends WarmPoolDeps {
  readonly changes: Changes;
  readonly sizes: WarmSizes;
}

const intervalMs = 5000;
/** Runs worked on at the same time. */
const concurrency = 8;
/** An older run is replaced, because its image and its clocks are stale. */
const lifeHours = 24;

/** Keeps runs ready for the next orders (docs/internals/runtime.md). Without sizes it ends those of an earlier setting. */
export function startWarmPool(deps: PoolDeps): Loop {
  const { db, changes, drivers, log } = deps;
  const backoffs = openBackoffs();
  const slots = openHostSlots([...drivers.keys()], concurrency, {
    failed: logError(log, "warm_run.failed"),
    freed: () => stepLoop.trigger(),
  });

  async function step(): Promise<number> {
    if (Object.keys(deps.sizes).length === 0 && !(await hasRuns(db))) return intervalMs;
    await returnLapsedWarmRuns(db);
    await endUnwanted(db, deps.sizes);
    refillLoop.trigger();
    for (;;) {
      const { hostIds, limit } = slots.next();
      if (limit === 0) return intervalMs;
      const rows = await fetchWarmRuns(db, hostIds, limit);
      for (const row of rows) {
        const work = stepWarmRun(deps, row, (result) => backoffs.record(row, result));
        slots.take(row.host_id, work);
      }
      if (rows.length < limit) return await nextWarmRunMs(db, hostIds);
    }
  }

  const refillLoop = eachHost("warm-pool-refill", deps, intervalMs, ({ id, driver }) => async () => {
    if (await refill(deps, id, driver, backoffs.without)) stepLoop.trigger();
    return backoffs.endMs();
  });
  // Changes that may free GPUs, take runs, or begin a launch.
  const on = ["environment", "order", "queue"] as const;
  const stepLoop = startNotifiedLoop({ name: "warm-pool", changes, on, work: step, intervalMs, log });
  return {
    trigger: stepLoop.trigger,
    async stop() {
      await Promise.all([stepLoop.stop(), refillLoop.stop()]);
      await slots.ended();
    },
  };
}

async function hasRuns(db: Db): Promise<boolean> {
  return (await db.selectFrom("warm_runs").select("id").executeTakeFirst()) !== undefined;
}

/** Ends runs that are too old, too many, or on a GPU or host out of service, but none that an order has. */
async function endUnwanted(db: Db, sizes: WarmSizes): Promise<void> {
  await sql`
    with ranked as (
      select w.*, row_number() over (partition by host_id, container_type order by created_at) as n from warm_runs w
      where state <> 'ending' and order_id is null),
    unwanted as (
      select w.id from warm_runs w join ranked r on r.id = w.id join hosts h on h.id = r.host_id
      where r.n > coalesce((${JSON.stringify(sizes)}::jsonb ->> r.container_type)::int, 0)
        or r.created_at < now() - make_interval(hours => ${lifeHours}) or h.drained_at is not null
        or exists (select from gpus where id = any(r.gpus) and quarantined_at is not null)
      order by w.id for update of w)
    update warm_runs w set state = 'ending', due_at = now()
    from unwanted u where w.id = u.id and w.state <> 'ending' and w.order_id is null`.execute(db);
}

/**
 * Adds one run of each type that lacks one, on free GPUs; none while a launch is pending or the queue has entries. Returns
 * whether one was added. The back-off is read after the missing types, because a failure is recorded first.
 */
async function refill({ db, sizes }: PoolDeps, hostId: string, driver: Driver, without: Backoffs["without"]) {
  const lacks = async (of: Sql, types: readonly string[]) => without(hostId, await lacking(of, sizes, hostId, types));
  const wanted = await lacks(db, Object.keys(sizes));
  if (wanted.length === 0 || (await driver.capabilities()).warm === "none") return false;
  let isAdded = false;
  for (const type of wanted)
    await db.transaction().execute(async (tx) => {
      await sql`select 1 from hosts where id = ${hostId} for no key update`.execute(tx);
      if ((await lacks(tx, [type])).length > 0) isAdded = (await addRun(tx, hostId, type)) || isAdded;
    });
  return isAdded;
}

async function lacking(db: Sql, sizes: WarmSizes, hostId: string, types: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select type from unnest(${[...types]}::text[]) type
    where (${JSON.stringify(sizes)}::jsonb ->> type)::int > (select count(*) from warm_runs
        where host_id = ${hostId} and container_type = type and state <> 'ending' and order_id is null)
      and exists (select from host_images where host_id = ${hostId} and container_type = type and state = 'ready')
      and exists (select from hosts where id = ${hostId} and is_open)
      and not exists (select from environments where host_id = ${hostId} and status = 'pending' and desired = 'running')
      and not exists (select from queue_entries where status in ('waiting', 'held'))`.execute(db);
  return rows.map(({ type }) => type);
}

async function addRun(tx: Tx, hostId: string, type: string): Promise<boolean> {
  const id = newId();
  const { rows } = await sql`
    with free as (
      select id from gpus g where host_id = ${hostId} and quarantined_at is null
        and not starts_with(node, ${expectedNodePrefix})
        and not exists (select from gpu_leases where gpu_id = g.id and released_at is null)
        and not exists (select from warm_runs where g.id = any(gpus))
      order by length(id) desc, id desc limit 1),
    run as (
      insert into warm_runs (id, host_id, container_type, gpus, home, run_token)
      select ${id}, ${hostId}, ${type}, array[free.id], ${newToken()}, ${newToken()} from free)
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id) select ${newId()}, free.id, 'pool', ${id} from free
    returning id`.execute(tx);
  return rows.length > 0;
}

type Backoffs = ReturnType<typeof openBackoffs>;

/** The back-off of each host and type after failed runs. */
function openBackoffs() {
  const failures = new Map<string, { count: number; until: number }>();
  const keyOf = (hostId: string, type: string) => `${hostId} ${type}`;
  return {
    without: (hostId: string, types: readonly string[]) =>
      types.filter((type) => (failures.get(keyOf(hostId, type))?.until ?? 0) <= performance.now()),
    /** Milliseconds until the first one ends. */
    endMs: () =>
      Math.min(...[...failures.values()].map(({ until }) => until - performance.now()).filter((leftMs) => leftMs > 0)),
    record({ host_id, container_type }: { host_id: string; container_type: string }, result: WarmResult) {
      const key = keyOf(host_id, container_type);
      if (result === "ready") return void failures.delete(key);
      const count = (failures.get(key)?.count ?? 0) + 1;
      failures.set(key, { count, until: performance.now() + backoffMs(count) });
    },
  };
}
