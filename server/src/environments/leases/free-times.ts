import { plural } from "@berth/contract";
import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";
import { canRun, hasRoomForFiles, holdGrace, type Place } from "./gpu-leases.ts";
import { unitWord } from "./read-unit.ts";

/** Each GPU that can be leased, or that can run the order, and when it is expected to be free: `id, host_id, node, holder_kind, free_at`. */
const slotTimesFor = (orderId: string | null, place: Place | null) => sql`
  select gpus.id, gpus.host_id, gpus.node, l.holder_kind, case
      when l.id is null or l.holder_kind = 'pool' then now()
      when l.holder_kind = 'order' then l.hold_until + ${sql.lit(holdGrace)}::interval
      when l.holder_kind = 'queue' then l.hold_until
      else coalesce(e.expires_at, now() + make_interval(hours => coalesce(e.duration_hours, 1)))
    end as free_at
  from gpus join hosts on hosts.id = gpus.host_id
  left join gpu_leases l on l.gpu_id = gpus.id and l.released_at is null
  left join environments e on l.holder_kind = 'environment' and e.id = l.holder_id
  where quarantined_at is null and is_open and ${canRun(orderId)} and ${hasRoomForFiles(place)}`;

export const slotTimes = slotTimesFor(null, null);

export interface FreeTime {
  readonly gpuCount: number;
  /** Not after now where so many are free; null where they are reserved for the queue. */
  readonly freeAt: Date | null;
  readonly freeNow: boolean;
}

/**
 * When each count that some machine (or one of the given place, or one that can run the order) has is free on one machine
 * (G35, G180). A holder that is not ready yet counts with its whole duration from now on.
 */
export async function freeTimes(
  db: Sql,
  place: Place | null = null,
  orderId: string | null = null,
): Promise<readonly FreeTime[]> {
  const { hostId = null, node = null } = place ?? {};
  const { rows } = await sql<FreeTime>`
    with slots as (
      select host_id, node, case when (host_id, node) in (select kept_host_id, kept_node from queue_entries where kept_host_id is not null)
        then null else free_at end as free_at
      from (${slotTimesFor(orderId, place)}) known where (${hostId}::text is null or host_id = ${hostId}) and (${node}::text is null or known.node in ('', ${node}))),
    ranked as (select free_at, row_number() over (partition by host_id, node order by free_at) as n from slots)
    select n as "gpuCount", min(free_at) as "freeAt", coalesce(min(free_at) <= now(), false) as "freeNow"
    from ranked group by n order by n`.execute(db);
  return rows;
}

/** The message of a refusal, with the expected time (G35). */
export async function shortageText(
  db: Sql,
  gpuCount: number,
  place: Place | null,
  orderId: string | null = null,
): Promise<string> {
  const time = (await freeTimes(db, place, orderId)).find((each) => each.gpuCount === gpuCount);
  if (!time && (await isAnyUnreachable(db, place?.hostId ?? null)))
    return `${place ? "The machine that has these files" : "A machine"} does not answer right now. Try again in a few minutes`;
  if (!time && place) return "The machine that has these files takes no new environments";
  if (!time && (await isAnyFull(db))) return "No machine has room for the files of another environment right now";
  const unit = await unitWord(db);
  if (!time) return `No machine has ${plural(gpuCount, unit)}`;
  const short = `Not enough ${unit}s are free right now`;
  if (!time.freeAt) return `${short}. The next are for who has waited longest`;
  const what = plural(gpuCount, `${unit} is`, `${unit}s are`);
  const when = time.freeAt.toISOString().slice(0, 16).replace("T", " ");
  return `${short}. The next ${what} expected to be free at ${when} UTC`;
}

async function isAnyFull(db: Sql): Promise<boolean> {
  const { rows } = await sql`select from hosts where is_open and not ${hasRoomForFiles(null)} limit 1`.execute(db);
  return rows.length > 0;
}

async function isAnyUnreachable(db: Sql, hostId: string | null): Promise<boolean> {
  const { rows } = await sql`
    select from hosts where away_since is not null and drained_at is null
      and (${hostId}::text is null or id = ${hostId}) limit 1`.execute(db);
  return rows.length > 0;
}
