import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { withoutLease } from "../../database/work-queue.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import type { Announce } from "../notice.ts";

/** The ids of hosts whose machines never come back, until an operator removes them. */
export async function decommissionedHostIds(db: Sql): Promise<readonly string[]> {
  const hosts = db.selectFrom("hosts").select("id").where("lost_at", "is not", null).where("removed_at", "is", null);
  return (await hosts.orderBy("id").execute()).map(({ id }) => id);
}

/** The driver of a decommissioned host. It reports that nothing runs there, so all environments of it end as usual. */
export function decommissionedDriver(id: string): Driver {
  const nothing = async () => {};
  const refuse = (code: DriverError["code"]) => async () => {
    throw new DriverError(code, `${id} is decommissioned`);
  };
  return {
    kind: "docker",
    machineId: refuse("unavailable"),
    capabilities: refuse("unavailable"),
    prepare: refuse("no_image"),
    observe: async () => ({ state: "absent" }),
    list: async () => [],
    start: refuse("unavailable"),
    pause: nothing,
    stop: nothing,
    remove: nothing,
    deleteHome: nothing,
    homeMb: async () => 0,
    countHome: refuse("unavailable"),
    restore: refuse("unavailable"),
    async *archive() {
      yield await refuse("unavailable")();
    },
    stats: refuse("refused"),
    processes: refuse("refused"),
    gpuFault: refuse("refused"),
    gpuLeftovers: async () => new Map(),
    async *logs() {},
    async *watch(signal) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
}

/** What `endAllOnHost` would end. */
export async function countOnHost(db: Sql, hostId: string) {
  const { rows } = await sql<{ environments: number; homes: number }>`
    select (select count(*) from environments where host_id = ${hostId} and status <> 'terminated')::int as environments,
      (select count(*) from homes where host_id = ${hostId})::int as homes`.execute(db);
  return rows[0] ?? { environments: 0, homes: 0 };
}

/**
 * Ends all that is on a host at its next pass. What was not delivered is refunded, and so is the time of running
 * environments since `lostAt`, also where it would have expired meanwhile. The files are gone, so their names are free.
 * Returns how many owners were notified.
 */
export async function endAllOnHost(tx: Tx, announce: Announce, hostId: string, lostAt: Date): Promise<number> {
  const { rows: owners } = await sql<{ user_id: string; names: string }>`
    select user_id, string_agg(subdomain, ', ' order by subdomain) as names from (
      select user_id, subdomain from homes where host_id = ${hostId}
      union select user_id, subdomain from environments where host_id = ${hostId} and status <> 'terminated') lost
    group by user_id order by user_id`.execute(tx);
  await sql`
    with lost as (
      select id from environments where host_id = ${hostId} and status <> 'terminated' order by id for update)
    update environments e set desired = 'terminated', ${withoutLease}, attempts = 0, due_at = now(),
      ended_reason = case
        when ended_reason = 'expired' and expires_at > ${lostAt} then 'hardware'
        when ended_reason is not null then ended_reason
        when desired = 'terminated' then 'terminated'
        when created_at is null then 'not_delivered' else 'hardware' end,
      fault_since = case when created_at is not null then coalesce(fault_since, greatest(created_at, ${lostAt})) end
    from lost where e.id = lost.id`.execute(tx);
  await sql`
    update subdomain_claims c set retained_until = now() from homes h
    where h.host_id = ${hostId} and h.delete_at is not null and c.name = h.subdomain and c.user_id = h.user_id
      and c.order_id is null`.execute(tx);
  await sql`
    update homes set used_at = null, delete_at = case when delete_at is not null or left_by is not null then now() end, told_at = now()
    where host_id = ${hostId}`.execute(tx);
  for (const { user_id: userId, names } of owners)
    await announce(tx, {
      userId,
      cause: `lost:${hostId}:${lostAt.toISOString()}`,
      title: "A machine of yours is lost",
      body: `It does not come back, and neither do the files on it: ${names}. What you paid for and could not use is refunded.`,
      link: "/environments",
    });
  return owners.length;
}
