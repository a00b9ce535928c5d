import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import { openChanges } from "../../database/changes.ts";
import type { Driver } from "../../drivers/driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { startReconciler } from "../../environments/reconciler/start-reconciler.ts";
import { freeDelivery, writeOnly } from "../../environments/testing/setup-environments.ts";
import { startWarmPool } from "../../environments/warm-pool/start-warm-pool.ts";
import { probeReadiness } from "../../gateway/forward/probe-readiness.ts";
import { setupGateway as openGateway } from "../../gateway/testing/setup-gateway.ts";
import { recordLog } from "../../logging/testing/record-log.ts";

export const longWait = { timeout: 60_000, interval: 20 };

/** A gateway, a reconciler and a pool of one real JupyterLab on two CPU slots of a machine that has the image. */
export async function setupWarmLab(driver: Driver) {
  const { db, database, ask, hostOf } = await openGateway();
  await registerHost(db, "machine", driver, 2);
  await sql`insert into host_images (host_id, container_type, state) values ('machine', 'jupyter', 'ready')`.execute(
    db,
  );
  const { log, errors: failures } = recordLog();
  const drivers = new Map([["machine", driver]]);
  const deps = { db, changes: await openChanges(database), drivers, isReady: probeReadiness, log };
  const pool = startWarmPool({ ...deps, sizes: { jupyter: 1 } });
  const loops = [pool, startReconciler({ ...deps, delivery: freeDelivery, announce: writeOnly, retentionDays: 30 })];
  onTestFinished(async () => void (await Promise.all(loops.map((loop) => loop.stop()))));
  const read = (id: string) => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return {
    ...{ db, failures, read },
    /** Waits for an environment's address, and writes a file there as its owner does. */
    async write(id: string, name: string, content: string) {
      const { subdomain, secret } = await read(id);
      const headers = { authorization: `token ${secret}`, "content-type": "application/json" };
      const host = hostOf({ subdomain });
      await expect.poll(async () => (await ask(host, "/api", { headers })).status, longWait).toBe(200);
      const body = JSON.stringify({ type: "file", format: "text", content });
      const written = await ask(host, `/api/contents/${name}`, { method: "PUT", headers, body });
      expect(written.status).toBe(201);
    },
    async stands() {
      const ready = () => db.selectFrom("warm_runs").select("id").where("state", "=", "ready").executeTakeFirst();
      await expect.poll(ready, longWait).toBeDefined();
      return (await ready())?.id ?? "";
    },
  };
}
