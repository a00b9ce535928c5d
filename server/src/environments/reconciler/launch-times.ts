import { type LaunchFigures, type LaunchStage, measuredDays } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";

/** Stamps that end a line of the timeline; the others belong to the next of these. */
const stages = ["placed", "image", "started", "answering", "ready"] as const satisfies readonly LaunchStage[];

const columns = stages.map((stage) => sql.id(`${stage}_ms`));

/** Records how long a launch took, in the transaction that stamps `ready`. A restart has no payment and does not count. */
export async function recordLaunchTime(tx: Tx, id: string, generation: number): Promise<void> {
  const taken = stages.map(
    (stage) =>
      sql`extract(epoch from max(at) filter (where stage = ${stage}) - max(at) filter (where stage = 'paid')) * 1000`,
  );
  await sql`
    insert into launch_times (environment_id, warm, ready_at, ${sql.join(columns)})
    select environment_id, (select warm from environments where id = ${id}), max(at) filter (where stage = 'ready'),
      ${sql.join(taken)}
    from launch_stages where environment_id = ${id} and generation = ${generation}
    group by environment_id having bool_or(stage = 'paid') on conflict do nothing`.execute(tx);
}

interface Measured {
  readonly warm: boolean;
  readonly count: number;
  /** Milliseconds after the payment, half and 95 of 100, in the order of `stages`. */
  readonly quantiles: readonly (readonly [number, number] | null)[];
}

export interface LaunchTimes {
  readonly cold: LaunchFigures | null;
  readonly warm: LaunchFigures | null;
}

/** Paid to each stage over the last 30 days (G38): measured and never estimated, null without launches. */
export async function launchTimes(db: Db): Promise<LaunchTimes> {
  const quantiles = columns.map(
    (column) => sql`to_jsonb(percentile_cont(array[0.5, 0.95]) within group (order by ${column}))`,
  );
  const { rows } = await sql<Measured>`
    select warm, count(*)::int as count, jsonb_build_array(${sql.join(quantiles)}) as quantiles
    from launch_times where ready_at > now() - make_interval(days => ${measuredDays}) group by warm`.execute(db);
  return {
    cold: figuresOf(rows.find(({ warm }) => !warm)),
    warm: figuresOf(rows.find(({ warm }) => warm)),
  };
}

function figuresOf(measured: Measured | undefined): LaunchFigures | null {
  if (!measured) return null;
  const timed = stages.flatMap((stage, index) => {
    const [half, most] = measured.quantiles[index] ?? [];
    return half === undefined || most === undefined
      ? []
      : [{ stage, p50_ms: Math.round(half), p95_ms: Math.round(most) }];
  });
  const { p50_ms = 0, p95_ms = 0 } = timed.at(-1) ?? {};
  return { count: measured.count, p50_ms, p95_ms, stages: timed };
}
