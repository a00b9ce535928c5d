import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { openChanges } from "../database/changes.ts";
import { openDockerMachine, whyNoDocker } from "../drivers/testing/docker-machine.ts";
import { registerHost } from "../environments/hosts/register-host.ts";
import { launchTimes } from "../environments/reconciler/launch-times.ts";
import { startReconciler } from "../environments/reconciler/start-reconciler.ts";
import { rent, writeOnly } from "../environments/testing/setup-environments.ts";
import { startWarmPool } from "../environments/warm-pool/start-warm-pool.ts";
import { probeReadiness } from "../gateway/forward/probe-readiness.ts";
import { setupGateway as openGateway } from "../gateway/testing/setup-gateway.ts";
import { recordLog } from "../logging/testing/record-log.ts";

vi.setConfig({ testTimeout: 60_000 });

const longWait = { timeout: 30_000, interval: 20 };
const absent = await whyNoDocker();
const titled = (title: string) => (absent ? `${title}, skipped because ${absent}` : title);

async function setup() {
  const machine = openDockerMachine();
  onTestFinished(machine.close);
  const driver = await machine.open();
  const { db, database, ask, hostOf } = await openGateway();
  await registerHost(db, "docker", driver, 2);
  await sql`insert into host_images (host_id, container_type, state) values ('docker', 'jupyter', 'ready')`.execute(db);
  const { log, errors: failures } = recordLog();
  const drivers = new Map([["docker", driver]]);
  const deps = { db, changes: await openChanges(database), drivers, isReady: probeReadiness, log };
  const pool = startWarmPool({ ...deps, sizes: { jupyter: 1 } });
  const delivery = {
    delivered: async () => ({ bonusHours: 0 }),
    undelivered: async () => {},
    kept: async () => true,
    ended: async () => {},
  };
  const loops = [pool, startReconciler({ ...deps, delivery, announce: writeOnly, retentionDays: 30 })];
  onTestFinished(async () => void (await Promise.all(loops.map((loop) => loop.stop()))));
  return {
    ...{ machine, driver, db, ask, hostOf, failures },
    read: (id: string) => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    async stands() {
      const ready = () => db.selectFrom("warm_runs").select("id").where("state", "=", "ready").executeTakeFirst();
      await expect.poll(ready, longWait).toBeDefined();
      return (await ready())?.id ?? "";
    },
  };
}

test.skipIf(absent)(
  titled(
    "the next paid order resumes a frozen JupyterLab: the same container, 200 at its address, its folder the owner's",
  ),
  async () => {
    const { machine, driver, db, ask, hostOf, read, stands, failures } = await setup();
    const ready = await stands();
    expect(await driver.observe(ready)).toMatchObject({ state: "paused" });
    const before = await machine.container(ready).inspect();
    const id = await rent(db, { subdomain: "woken" });
    expect(id).toBe(ready);
    await expect.poll(async () => (await read(id)).status, longWait).toBe("active");
    const { secret, home, generation, warm } = await read(id);
    expect({ generation, warm }).toEqual({ generation: 1, warm: true });
    expect((await machine.container(id).inspect()).Id).toBe(before.Id);
    const headers = { authorization: `token ${secret}` };
    const at = (path: string, given: Parameters<typeof ask>[2] = {}) =>
      ask(hostOf({ subdomain: "woken" }), path, given);
    await expect.poll(async () => (await at("/api", { headers })).status, longWait).toBe(200);
    const content = { type: "file", format: "text", content: "mine" };
    const written = await at("/api/contents/note.txt", {
      method: "PUT",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(content),
    });
    expect(written.status).toBe(201);
    expect(await readFile(join(machine.homeRoot, home, "note.txt"), "utf8")).toBe("mine");
    expect(await launchTimes(db)).toMatchObject({ cold: null, warm: { count: 1 } });
    expect(await stands()).not.toBe(id);
    expect(failures).toEqual([]);
  },
);

test.skipIf(absent)(titled("a frozen JupyterLab that an engine has lost is replaced by a cold launch"), async () => {
  const { machine, db, read, stands } = await setup();
  const ready = await stands();
  await machine.container(ready).remove({ force: true });
  const id = await rent(db);
  expect(id).toBe(ready);
  await expect.poll(async () => (await read(id)).status, longWait).toBe("active");
  expect(await read(id)).toMatchObject({ generation: 2, warm: false });
  expect(await launchTimes(db)).toMatchObject({ cold: { count: 1 }, warm: null });
});
