import { type Capacity, containerTypes, gpuCounts } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { freeTimes } from "./leases.ts";

/** What can be launched now on one host, when more frees up, and how long launches take (G35, G38, G39). */
export async function readCapacity(db: Db): Promise<Omit<Capacity, "status">> {
  const [times, kind, types, launch] = await Promise.all([freeTimes(db), kindOf(db), typesOf(db), launchTimes(db)]);
  const free = times.filter(({ freeNow }) => freeNow).length;
  const counts = gpuCounts.map((gpu_count) => {
    const time = times.find(({ gpuCount }) => gpuCount === gpu_count);
    const isFree = time?.freeNow ?? false;
    return { gpu_count, free: isFree, next_free_at: isFree ? null : (time?.freeAt.toISOString() ?? null) };
  });
  return { kind, total: times.length, free, counts, types, launch };
}

async function kindOf(db: Db): Promise<"gpu" | "cpu"> {
  const row = await db
    .selectFrom("gpus")
    .where("kind", "=", "gpu")
    .where("quarantined_at", "is", null)
    .select("id")
    .executeTakeFirst();
  return row ? "gpu" : "cpu";
}

/** The best state of each type over the hosts: one host that has it is enough. */
async function typesOf(db: Db): Promise<Capacity["types"]> {
  const { rows } = await sql<Capacity["types"][number]>`
    select distinct on (container_type) container_type as type, state, percent, message
    from host_images join hosts on hosts.id = host_id where drained_at is null
    order by container_type, array_position(array['ready', 'preparing', 'unavailable'], state), percent desc nulls last`.execute(
    db,
  );
  return containerTypes.map(
    (type) => rows.find((row) => row.type === type) ?? { type, state: "preparing", percent: null, message: "" },
  );
}

/** Paid to ready of the last 30 days, measured and never estimated; null until something was launched. */
async function launchTimes(db: Db): Promise<Capacity["launch"]> {
  const { rows } = await sql<{ p50_ms: number | null; p95_ms: number | null; count: number }>`
    select count(*)::int as count,
      round(percentile_cont(0.5) within group (order by ms))::int as p50_ms,
      round(percentile_cont(0.95) within group (order by ms))::int as p95_ms
    from (
      select (extract(epoch from ready.at - paid.at) * 1000)::float8 as ms
      from launch_stages ready join launch_stages paid
        on paid.environment_id = ready.environment_id and paid.generation = ready.generation and paid.stage = 'paid'
      where ready.stage = 'ready' and ready.at > now() - interval '30 days') launches`.execute(db);
  const row = rows[0];
  if (!row || row.p50_ms === null || row.p95_ms === null) return null;
  return { p50_ms: row.p50_ms, p95_ms: row.p95_ms, count: row.count };
}
