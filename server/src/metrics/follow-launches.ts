import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import type { Metrics } from "./create-metrics.ts";
import { followRows } from "./follow-rows.ts";

const stages = ["placed", "image", "started", "answering", "ready"] as const;

type Launch = { readonly id: string; readonly warm: boolean } & {
  readonly [stage in (typeof stages)[number]]: number | null;
};

/** Returns a function that observes the times of new launches; they are those of `/status`. */
export function followLaunches({ launchSeconds }: Pick<Metrics, "launchSeconds">): (db: Db) => Promise<void> {
  for (const stage of stages) for (const warm of ["yes", "no"]) launchSeconds.zero({ stage, warm });
  const follow = followRows<Launch>(readLaunches);
  return async (db) => {
    for (const launch of await follow(db))
      for (const stage of stages) {
        const ms = launch[stage];
        if (ms !== null) launchSeconds.observe({ stage, warm: launch.warm ? "yes" : "no" }, ms / 1000);
      }
  };
}

async function readLaunches(db: Db, since: Date): Promise<readonly Launch[]> {
  const { rows } = await sql<Launch>`
    select environment_id as id, warm, placed_ms as placed, image_ms as image, started_ms as started,
      answering_ms as answering, ready_ms as ready
    from launch_times where ready_at > ${since}`.execute(db);
  return rows;
}
