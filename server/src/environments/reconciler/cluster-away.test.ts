import { sql } from "kysely";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver } from "../../drivers/driver.ts";
import { openProxiedMachine, type ProxiedMachine } from "../../drivers/testing/cluster-proxy.ts";
import { whyNoKubernetes } from "../../drivers/testing/kubernetes-machine.ts";
import { registerHost } from "../hosts/register-host.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { inventoryOf } from "./reconcile-inventory.ts";

vi.setConfig({ testTimeout: 180_000 });

const absent = await whyNoKubernetes();
describe.skipIf(absent)(absent ? `an API server, skipped because ${absent}` : "an API server", () => {
  let proxied: ProxiedMachine;
  beforeAll(async () => {
    proxied = await openProxiedMachine();
    return proxied.close;
  }, 300_000);

  /** A rental of six hours on CPU slots of the cluster, whose driver is behind the proxy. */
  async function setup() {
    const base = await setupEnvironments();
    const { db, deps, rent, read } = base;
    const cluster = proxied.openBehind();
    // Its GPUs are of tests beside this one too.
    const driver: Driver = {
      ...cluster,
      capabilities: async (refresh) => ({ ...(await cluster.capabilities(refresh)), gpus: [], gpu: "none" }),
    };
    await registerHost(db, "host", driver, 2);
    Object.assign(deps, { drivers: new Map([["host", driver]]), isReady: async () => true });
    const id = await rent({ durationHours: 6 });
    const direct = await proxied.machine.open();
    onTestFinished(() => direct.stop(id, 0));
    const passed = async () => {
      await base.pass();
      return (await read(id)).status;
    };
    const becomes = (status: string) => expect.poll(passed, { timeout: 60_000, interval: 200 }).toBe(status);
    await becomes("active");
    const host = { id: "host", driver, signal: new AbortController().signal };
    return {
      ...base,
      id,
      becomes,
      row: () => read(id),
      look: inventoryOf({ ...deps, clock: { require: async () => {} } }, host),
    };
  }

  const hoursLeft = (row: { expires_at: Date | null }) => ((row.expires_at?.getTime() ?? 0) - Date.now()) / 3_600_000;

  test("that is away: environments stay as they are for some tries, then are unknown with a clock that stands, and go on as they were", async () => {
    const { db, row, pass, look, becomes } = await setup();
    const { proxy } = proxied;
    const { endpoint, generation, run_token } = await row();
    proxy.fault = "cut";
    onTestFinished(() => void Object.assign(proxy, { fault: "none" }));
    for (let passes = 0; passes < 4; passes++) await pass();
    expect((await row()).status).toBe("active");
    await pass();
    expect(await row()).toMatchObject({ status: "unknown", desired: "running", lost_since: null, endpoint, run_token });
    await look();
    await expect(look()).rejects.toMatchObject({ code: "unavailable" });
    const isOpen = async () =>
      (await sql<{ is_open: boolean }>`select is_open from hosts`.execute(db)).rows[0]?.is_open;
    expect(await isOpen()).toBe(false);
    // An hour without an API server.
    await sql`update environments set fault_since = fault_since - interval '1 hour', expires_at = expires_at - interval '1 hour'`.execute(
      db,
    );

    proxy.fault = "none";
    await look();
    expect(await isOpen()).toBe(true);
    await becomes("active");
    expect(await row()).toMatchObject({ endpoint, generation, run_token, fault_since: null, down_since: null });
    expect(hoursLeft(await row())).toBeCloseTo(6, 1);
  });

  test.each([-1, 1])(
    "whose clock is off by %i h: a rental has its time, and its launch took no negative or endless time",
    async (hours) => {
      const { proxy } = proxied;
      proxy.aheadMs = hours * 3_600_000;
      onTestFinished(() => void Object.assign(proxy, { aheadMs: 0 }));
      const { db, row, pass, want, becomes, id } = await setup();
      expect(hoursLeft(await row())).toBeCloseTo(6, 1);
      const { rows: stages } = await sql<{ late: boolean }>`
      select at > now() or at < (select requested_at from environments) - interval '3 seconds' as late from launch_stages`.execute(
        db,
      );
      expect(stages.filter(({ late }) => late)).toEqual([]);
      // The second start counts from its container's start, at most from now.
      await want(id, "stopped");
      await becomes("stopped");
      expect((await row()).banked_seconds / 3600).toBeCloseTo(6, 1);
      await sql`
      insert into gpu_leases (id, gpu_id, holder_kind, holder_id)
      select 'lease', id, 'environment', ${id} from gpus where quarantined_at is null order by id limit 1`.execute(db);
      await want(id, "running");
      await becomes("active");
      expect(hoursLeft(await row())).toBeCloseTo(6, 1);
      await pass();
      expect(await row()).toMatchObject({ status: "active", fault_since: null });
    },
  );
});
