import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDockerMachine, whyNoDocker } from "../drivers/testing/docker-machine.ts";
import { launchTimes } from "../environments/reconciler/launch-times.ts";
import { rent } from "../environments/testing/setup-environments.ts";
import { longWait, setupWarmLab } from "./testing/setup-warm-lab.ts";

vi.setConfig({ testTimeout: 120_000 });

const absent = await whyNoDocker();
const titled = (title: string) => (absent ? `${title}, skipped because ${absent}` : title);

async function setup() {
  const machine = openDockerMachine();
  onTestFinished(machine.close);
  const driver = await machine.open();
  return { machine, driver, ...(await setupWarmLab(driver)) };
}

test.skipIf(absent)(
  titled(
    "the next paid order resumes a frozen JupyterLab: the same container, 200 at its address, its folder the owner's",
  ),
  async () => {
    const { machine, driver, db, read, write, stands, failures } = await setup();
    const ready = await stands();
    expect(await driver.observe(ready)).toMatchObject({ state: "paused" });
    const before = await machine.container(ready).inspect();
    const id = await rent(db);
    expect(id).toBe(ready);
    await expect.poll(async () => (await read(id)).status, longWait).toBe("active");
    const { home, generation, warm } = await read(id);
    expect({ generation, warm }).toEqual({ generation: 1, warm: true });
    expect((await machine.container(id).inspect()).Id).toBe(before.Id);
    await write(id, "note.txt", "mine");
    expect(await readFile(join(machine.homeRoot, home, "note.txt"), "utf8")).toBe("mine");
    expect(await launchTimes(db)).toMatchObject({ cold: null, warm: { count: 1 } });
    expect(await stands()).not.toBe(id);
    expect(failures).toEqual([]);
  },
);

test.skipIf(absent)(titled("a frozen JupyterLab that an engine has lost is replaced by a cold launch"), async () => {
  const { machine, db, read, stands } = await setup();
  const ready = await stands();
  // The order comes before a worker has noticed.
  await sql`update warm_runs set lease_token = gen_random_uuid(), lease_expires_at = now() + interval '1 hour'`.execute(
    db,
  );
  await machine.container(ready).remove({ force: true });
  const id = await rent(db);
  expect(id).toBe(ready);
  await expect.poll(async () => (await read(id)).status, longWait).toBe("active");
  expect(await read(id)).toMatchObject({ generation: 2, warm: false });
  expect(await launchTimes(db)).toMatchObject({ cold: { count: 1 }, warm: null });
});
