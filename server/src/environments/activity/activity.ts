import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import type { Sample } from "./samples.ts";

/** What one look at a run found. */
export interface ActivityReading {
  readonly environmentId: string;
  /** For how long nothing has been done; 0 when it works or could not be seen, null when nothing ever was. */
  readonly idleSeconds: number | null;
}

/** Looks are 15 s apart. A longer gap hides what was done in it, so it counts as work: nothing is stopped on doubt. */
export const gapSeconds = 120;

/** Above these a run works, though no kernel says so. JupyterLab with an open tab and nothing to do stays far below. */
const busyAbove = { cpuCores: 0.15, gpuPercent: 5, bytesPerSecond: 65_536 };

/** What nobody watches works too: a job in the background, a training, a download. */
export function isWorking({ cpuCores, gpus, receivedBytesPerSecond, sentBytesPerSecond }: Sample): boolean {
  const bytes = (receivedBytesPerSecond ?? 0) + (sentBytesPerSecond ?? 0);
  return (
    cpuCores > busyAbove.cpuCores ||
    bytes > busyAbove.bytesPerSecond ||
    gpus.some(({ usePercent }) => usePercent > busyAbove.gpuPercent)
  );
}

/** Keeps when each environment was last busy, by the database's clock. In the order of the ids, as everybody locks them. */
export async function writeActivity(db: Db, seen: readonly ActivityReading[]): Promise<void> {
  if (seen.length === 0) return;
  await sql`
    with looks as (
      select a.environment_id, "idleSeconds" as idle
      from activity a join jsonb_to_recordset(${JSON.stringify(seen)}) as s ("environmentId" text, "idleSeconds" float8)
        on s."environmentId" = a.environment_id
      order by 1 for update of a)
    update activity kept
    set looked_at = now(), last_busy_at = case
        when kept.looked_at < now() - make_interval(secs => ${gapSeconds}) then now()
        else greatest(kept.last_busy_at, now() - make_interval(secs => idle)) end
    from looks where looks.environment_id = kept.environment_id`.execute(db);
}

/** Somebody used these through the gateway. Says nothing of what else went on in them. */
export async function recordUse(db: Db, environmentIds: readonly string[]): Promise<void> {
  await sql`
    with used as (
      select environment_id from activity where environment_id = any(${[...environmentIds]}) order by 1 for update)
    update activity set last_busy_at = now() from used where used.environment_id = activity.environment_id`.execute(db);
}

/** Its owner did something about it, or it begins to run. The environment's row is locked before. */
export async function beginActivity(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    insert into activity (environment_id) values (${environmentId})
    on conflict (environment_id) do update set last_busy_at = now(), looked_at = now()`.execute(tx);
}
