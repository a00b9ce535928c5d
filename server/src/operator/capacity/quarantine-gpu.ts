import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { hostForUpdate } from "../../environments/hosts/register-host.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { CapacityRefused } from "./capacity-refused.ts";

interface GpuRow {
  readonly id: string;
  readonly host_id: string;
  readonly model: string;
  readonly quarantined_at: Date | null;
  readonly quarantine_reason: string;
  readonly holder: string | null;
}

/** A line for each GPU or slot: where it is, and who has it. */
export async function listGpus(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<GpuRow>`
    select g.*, case l.holder_kind
        when 'environment' then 'environment ' || l.holder_id || coalesce(' (' || e.subdomain || ')', '')
        when 'order' then 'held for order ' || l.holder_id
        when 'queue' then 'held for who waited, ' || q.user_id
        when 'pool' then 'free, ' || w.container_type || ' stands ready'
        else l.holder_kind end as holder
    from gpus g join hosts h on h.id = g.host_id and h.removed_at is null
    left join gpu_leases l on l.gpu_id = g.id and l.released_at is null
    left join environments e on e.id = l.holder_id left join queue_entries q on q.id = l.holder_id
    left join warm_runs w on w.id = l.holder_id
    order by g.host_id, length(g.id), g.id`.execute(db);
  return rows.map((row) => `${row.id} on ${row.host_id}${row.model && `, ${row.model}`}: ${stateOf(row)}`);
}

function stateOf({ quarantined_at, quarantine_reason, holder }: GpuRow): string {
  if (!quarantined_at) return holder ?? "free";
  const why = `put aside ${formatInstant(quarantined_at)} UTC: ${quarantine_reason || "its host no longer has it"}`;
  return holder ? `${why}; still ${holder}` : why;
}

/**
 * Leases it to nobody any more, for the reason given; who has it now keeps it to the end. Answers whether somebody has.
 * Throws for one that is not there.
 */
export async function quarantineGpu(db: Db, id: string, reason: string): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    await lockGpu(tx, id);
    await tx
      .updateTable("gpus")
      .set({ quarantined_at: sql`coalesce(quarantined_at, now())`, quarantine_reason: reason })
      .where("id", "=", id)
      .execute();
    const { rows } = await sql`
      select 1 from gpu_leases where gpu_id = ${id} and released_at is null and holder_kind <> 'pool'`.execute(tx);
    return rows.length > 0;
  });
}

/** False when it was not put aside. Throws for one that is not there, and for one that its host no longer has. */
export async function releaseGpu(db: Db, id: string): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const gpu = await lockGpu(tx, id);
    if (!gpu.quarantined_at) return false;
    if (gpu.quarantine_reason === "")
      throw new CapacityRefused(
        `${gpu.host_id} had no ${id} at its last start. When it has, it is leased again by itself.`,
      );
    await tx.updateTable("gpus").set({ quarantined_at: null, quarantine_reason: "" }).where("id", "=", id).execute();
    return true;
  });
}

/** Under the lock of its host, as whoever leases. */
async function lockGpu(tx: Tx, id: string) {
  const gpu = () => tx.selectFrom("gpus").selectAll().where("id", "=", id).executeTakeFirst();
  const known = await gpu();
  if (!known) throw new CapacityRefused(`There is no GPU ${id}. operator -- gpus list names them.`);
  await hostForUpdate(tx, known.host_id);
  return (await gpu()) ?? known;
}
