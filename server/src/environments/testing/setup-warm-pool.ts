import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import { startWarmPool } from "../warm-pool/start-warm-pool.ts";
import { setupEnvironments } from "./setup-environments.ts";

export const pollOptions = { timeout: 15_000, interval: 20 };

/** A host that has the jupyter image and GPUs, and a pool of one warm run. */
export async function setupWarmPool({
  gpus = 2,
  ...options
}: {
  gpus?: number;
  stopMs?: number;
  startMs?: number;
  pause?: 0;
  warm?: 1;
} = {}) {
  const environments = await setupEnvironments({ options: { gpus, ...options } });
  const { db, driver, deps } = environments;
  await sql`insert into host_images (host_id, container_type, state) values ('host', 'jupyter', 'ready')`.execute(db);
  const shared: string[] = [];
  driver.machine.changed.on("changed", () => {
    const used = [...driver.machine.runs.values()].flatMap(({ spec }) => spec.gpus);
    if (new Set(used).size < used.length) shared.push(used.join(" "));
  });
  const warm = () => db.selectFrom("warm_runs").selectAll().orderBy("created_at").execute();
  return {
    ...environments,
    /** GPUs that two runs had at once. */
    shared,
    warm,
    pool(sizes: Readonly<Record<string, number>> = { jupyter: 1 }, changed: Partial<typeof deps> = {}) {
      const pool = startWarmPool({ ...deps, ...changed, sizes });
      onTestFinished(() => pool.stop());
      return pool;
    },
    async stands() {
      const ready = async () => (await warm()).find(({ state, order_id }) => state === "ready" && order_id === null);
      await expect.poll(ready, pollOptions).toBeDefined();
      return (await ready())?.id ?? "";
    },
    becomes: (id: string, status: string) =>
      expect.poll(async () => (await environments.read(id)).status, pollOptions).toBe(status),
    poolLeases: async () =>
      (await sql`select 1 from gpu_leases where holder_kind = 'pool' and released_at is null`.execute(db)).rows.length,
  };
}
