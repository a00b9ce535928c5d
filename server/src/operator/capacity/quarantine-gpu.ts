import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import { hostForUpdate } from "../../environments/hosts/register-host.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { CapacityRefused } from "./capacity-refused.ts";

interface GpuRow {
  readonly id: string;
  readonly host_id: string;
  readonly kind: "gpu" | "cpu";
  readonly model: string;
  readonly quarantined_at: Date | null;
  readonly quarantine_reason: string;
  readonly withheld_reason: string;
  readonly holder: string | null;
  readonly lease: {
    readonly kind: "environment" | "order" | "queue";
    readonly id: string;
    readonly name: string;
  } | null;
}

/** Returns every GPU or CPU slot with its holder. */
export async function readGpus(db: Db): Promise<readonly GpuRow[]> {
  const { rows } = await sql<GpuRow>`
    select g.*, case l.holder_kind
        when 'environment' then 'environment ' || l.holder_id || coalesce(' (' || e.subdomain || ')', '')
        when 'order' then 'held for order ' || l.holder_id
        when 'queue' then 'reserved in the queue for ' || q.user_id
        when 'pool' then 'free, with the warm run ' || w.id || ' of ' || w.container_type
        else l.holder_kind end as holder,
      case when l.holder_kind <> 'pool' then
        json_build_object('kind', l.holder_kind, 'id', l.holder_id, 'name', coalesce(e.subdomain, '')) end as lease
    from gpus g join hosts h on h.id = g.host_id and h.removed_at is null
    left join gpu_leases l on l.gpu_id = g.id and l.released_at is null
    left join environments e on e.id = l.holder_id left join queue_entries q on q.id = l.holder_id
    left join warm_runs w on w.id = l.holder_id
    order by g.host_id, length(g.id), g.id`.execute(db);
  return rows;
}

/** What an operator has to see to: nothing is wrong where there is only no room, or a node less (G212). */
export const isOutOfService = ({ quarantine_reason, withheld_reason }: GpuRow) =>
  quarantine_reason !== "" || withheld_reason !== "";

export function gpuText({ id, host_id, model, quarantined_at, holder, ...reasons }: GpuRow): string {
  const { quarantine_reason, withheld_reason } = reasons;
  const name = `${id} on ${host_id}${model && `, ${model}`}`;
  if (!quarantined_at) return `${name}: ${holder ?? "free"}`;
  const state = quarantine_reason ? "quarantined" : "not offered since";
  const reason = quarantine_reason || withheld_reason || "its host has no room for it, or has it no more";
  return `${name}: ${state} ${formatInstant(quarantined_at)} UTC: ${reason}${holder ? `; still ${holder}` : ""}`;
}

/**
 * Stops leasing a GPU, for the author's reason; its current holder keeps it to the end. Returns whether it has one. Throws
 * for an unknown GPU.
 */
export async function quarantineGpu(db: Db, id: string, author: Author): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    await lockGpu(tx, id);
    await tx
      .updateTable("gpus")
      .set({ quarantined_at: sql`coalesce(quarantined_at, now())`, quarantine_reason: author.reason })
      .where("id", "=", id)
      .execute();
    const { rows } = await sql`
      select 1 from gpu_leases where gpu_id = ${id} and released_at is null and holder_kind <> 'pool'`.execute(tx);
    await recordAct(tx, author, "gpu.quarantine", id, { held: rows.length > 0 });
    return rows.length > 0;
  });
}

/** Returns false when it was not quarantined. Throws for an unknown GPU, and for one that its host no longer has. */
export async function releaseGpu(db: Db, id: string, author: Author): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const gpu = await lockGpu(tx, id);
    if (!gpu.quarantined_at) return false;
    if (gpu.quarantine_reason === "")
      throw new CapacityRefused(
        `${id} is not quarantined, ${gpu.host_id} does not offer it: ${gpu.withheld_reason || "there is no room for it, or it is gone"}. It is leased again when its host offers it.`,
      );
    await tx.updateTable("gpus").set({ quarantined_at: null, quarantine_reason: "" }).where("id", "=", id).execute();
    await recordAct(tx, author, "gpu.release", id);
    return true;
  });
}

/** Locks the GPU's host, as leasing does. */
async function lockGpu(tx: Tx, id: string) {
  const gpu = () => tx.selectFrom("gpus").selectAll().where("id", "=", id).executeTakeFirst();
  const known = await gpu();
  if (!known) throw new CapacityRefused(`There is no GPU ${id}. ${operatorCommand("gpus list")} names them.`);
  await hostForUpdate(tx, known.host_id);
  return (await gpu()) ?? known;
}
