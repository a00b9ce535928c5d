import type { environmentSamples, ReplyOf, SamplePoint, SampleSpan } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import type { Stats } from "../../drivers/driver.ts";

/** The usage of a run between two measurements. */
export interface Sample {
  readonly environmentId: string;
  readonly cpuCores: number;
  readonly memoryMb: number;
  readonly homeMb: number;
  /** Null where the machine cannot measure one run's traffic. */
  readonly receivedBytesPerSecond: number | null;
  readonly sentBytesPerSecond: number | null;
  readonly gpus: Stats["gpus"];
}

/** The rows that a span reads and the length of its steps: at most 288 points each. */
const readings: Readonly<Record<SampleSpan, { hours: number; spanSeconds: number; stepSeconds: number }>> = {
  "1h": { hours: 1, spanSeconds: 60, stepSeconds: 60 },
  "24h": { hours: 24, spanSeconds: 60, stepSeconds: 300 },
  "7d": { hours: 168, spanSeconds: 600, stepSeconds: 3600 },
};

const mean = (column: string) =>
  sql.raw(`${column} = (old.${column} * old.looks + excluded.${column}) / (old.looks + 1)`);

/** Adds a sample to its minute and to its ten minutes; none of an environment that is ending, whose account may be gone. */
export async function writeSamples(db: Db, samples: readonly Sample[]): Promise<void> {
  if (samples.length === 0) return;
  const gpus = samples.flatMap(({ environmentId, gpus }) => gpus.map((gpu) => ({ environmentId, ...gpu })));
  const spans = sql`unnest(array[60, 600]) span_seconds`;
  const stays = sql`exists (select from environments e where e.id = s."environmentId" and e.desired <> 'terminated')`;
  const begin = sql`date_bin(make_interval(secs => span_seconds), now(), 'epoch')`;
  await db.transaction().execute(async (tx) => {
    await lockOwners(tx, samples);
    await sql`
      insert into samples as old (environment_id, span_seconds, at, looks, cpu_cores, memory_mb, home_mb,
        received_bytes_per_second, sent_bytes_per_second)
      select "environmentId", span_seconds, ${begin}, 1, "cpuCores", "memoryMb", "homeMb",
        "receivedBytesPerSecond", "sentBytesPerSecond"
      from jsonb_to_recordset(${JSON.stringify(samples)}) as s ("environmentId" text, "cpuCores" real, "memoryMb" real,
        "homeMb" real, "receivedBytesPerSecond" real, "sentBytesPerSecond" real), ${spans}
      where ${stays}
      order by 1, 2
      on conflict (environment_id, span_seconds, at) do update set looks = old.looks + 1,
        ${mean("cpu_cores")}, ${mean("memory_mb")}, home_mb = excluded.home_mb,
        ${mean("received_bytes_per_second")}, ${mean("sent_bytes_per_second")}`.execute(tx);
    if (gpus.length > 0)
      await sql`
      insert into gpu_samples as old (environment_id, gpu_id, span_seconds, at, looks, use_percent, memory_mb)
      select "environmentId", id, span_seconds, ${begin}, 1, "usePercent", "memoryMb"
      from jsonb_to_recordset(${JSON.stringify(gpus)}) as s ("environmentId" text, id text, "usePercent" real,
        "memoryMb" real), ${spans}
      where ${stays}
      order by 1, 2, 3
      on conflict (environment_id, span_seconds, at, gpu_id) do update set looks = old.looks + 1,
        ${mean("use_percent")}, ${mean("memory_mb")}`.execute(tx);
  });
}

/** Taken shared by every insert of a user's rows: the deletion of an account waits for them (docs/internals/locking.md). */
async function lockOwners(tx: Tx, samples: readonly Sample[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(hashtextextended(user_id, 6)) from (
      select distinct user_id from environments
      where id = any(${samples.map(({ environmentId }) => environmentId)}) order by user_id) owners`.execute(tx);
}

type Samples = Omit<ReplyOf<typeof environmentSamples>, "status">;

/** The samples of one environment, oldest first; a step without samples has no point. */
export async function samplesOf(db: Db, environmentId: string, span: SampleSpan): Promise<Samples> {
  const { hours, spanSeconds, stepSeconds } = readings[span];
  const step = sql`date_bin(make_interval(secs => ${stepSeconds}), at, 'epoch')`;
  // Means of means, weighted by how many samples each has.
  const weighed = (column: string) => sql`sum(${sql.ref(column)} * looks) / sum(looks)`;
  const asked = sql`environment_id = ${environmentId} and span_seconds = ${spanSeconds} and at >=
    date_bin(make_interval(secs => ${stepSeconds}), now(), 'epoch') - make_interval(secs => ${hours * 3600 - stepSeconds})`;
  const { rows } = await sql<Omit<SamplePoint, "at" | "gpus"> & { at: Date; gpus: SamplePoint["gpus"] | null }>`
    with used as (
      select ${step} as at, ${weighed("cpu_cores")} as cpu_cores, ${weighed("memory_mb")} as memory_mb,
        (array_agg(home_mb order by at desc))[1] as home_mb,
        ${weighed("received_bytes_per_second")} as received_bytes_per_second,
        ${weighed("sent_bytes_per_second")} as sent_bytes_per_second
      from samples where ${asked} group by 1),
    each_gpu as (
      select ${step} as at, gpu_id as id, ${weighed("use_percent")} as use_percent, ${weighed("memory_mb")} as memory_mb
      from gpu_samples where ${asked} group by 1, 2),
    gpus as (
      select at, jsonb_agg(jsonb_build_object('id', id, 'use_percent', use_percent, 'memory_mb', memory_mb) order by id) as gpus
      from each_gpu group by at)
    select used.*, gpus.gpus from used left join gpus using (at) order by used.at`.execute(db);
  const points = rows.map(({ at, gpus, ...point }) => ({ at: at.toISOString(), ...point, gpus: gpus ?? [] }));
  return { span, step_seconds: stepSeconds, points };
}

/** Deletes minutes after a day and tens of minutes after 30 days. */
export async function purgeSamples(db: Db): Promise<void> {
  for (const table of ["samples", "gpu_samples"] as const)
    await sql`
      delete from ${sql.table(table)}
      where (span_seconds = 60 and at < now() - interval '24 hours')
        or (span_seconds = 600 and at < now() - interval '30 days')`.execute(db);
}
