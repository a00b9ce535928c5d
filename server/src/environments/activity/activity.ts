import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import type { Sample } from "./samples.ts";

/** The activity of one run, as of one measurement. */
export interface ActivityReading {
  readonly environmentId: string;
  /** How long it has been idle; 0 when it works or could not be measured, null when nothing was ever done. */
  readonly idleSeconds: number | null;
}

/** Measurements are 15 s apart. A longer gap counts as work: when unsure, nothing is stopped. */
export const gapSeconds = 120;

/** Above these a run works, even without a busy kernel. An idle JupyterLab with an open tab stays far below. */
const busyAbove = { cpuCores: 0.15, gpuPercent: 5, bytesPerSecond: 65_536 };

/** Work that needs no kernel counts too: a job in the background, a training, a download. */
export function isWorking(sample: Sample): boolean {
  const bytes = (sample.receivedBytesPerSecond ?? 0) + (sample.sentBytesPerSecond ?? 0);
  return usesCpu(sample) || bytes > busyAbove.bytesPerSecond || usesGpu(sample);
}

export function usesCpu({ cpuCores }: Sample): boolean {
  return cpuCores > busyAbove.cpuCores;
}

export function usesGpu({ gpus }: Sample): boolean {
  return gpus.some(({ usePercent }) => usePercent > busyAbove.gpuPercent);
}

/** Records when each environment was last busy, by the database's clock. Rows are locked in the order of their ids. */
export async function writeActivity(db: Db, readings: readonly ActivityReading[]): Promise<void> {
  if (readings.length === 0) return;
  await sql`
    with readings as (
      select a.environment_id, "idleSeconds" as idle
      from activity a join jsonb_to_recordset(${JSON.stringify(readings)}) as s ("environmentId" text, "idleSeconds" float8)
        on s."environmentId" = a.environment_id
      order by 1 for update of a)
    update activity old
    set looked_at = now(), last_busy_at = case
        when old.looked_at < now() - make_interval(secs => ${gapSeconds}) then now()
        else greatest(old.last_busy_at, now() - make_interval(secs => idle)) end
    from readings where readings.environment_id = old.environment_id`.execute(db);
}

/** Records use through the gateway, which is no measurement of the run itself. */
export async function recordUse(db: Db, environmentIds: readonly string[]): Promise<void> {
  await sql`
    with used as (
      select environment_id from activity where environment_id = any(${[...environmentIds]}) order by 1 for update)
    update activity set last_busy_at = now() from used where used.environment_id = activity.environment_id`.execute(db);
}

/** The owner acted on it, or it begins to run. The environment's row is locked before. */
export async function beginActivity(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    insert into activity (environment_id) values (${environmentId})
    on conflict (environment_id) do update set last_busy_at = now(), looked_at = now()`.execute(tx);
}
