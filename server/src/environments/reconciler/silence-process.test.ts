import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { processDriver } from "../../drivers/process/process-driver.ts";
import { socketFolder } from "../../drivers/process/socket-folder.ts";
import { strictLog } from "../../logging/testing/record-log.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";

const runtimes = join(import.meta.dirname, "../../../../node_modules/.cache/berth/runtimes");

/** A real JupyterLab in the place of the fake one. */
async function setup() {
  const base = await setupEnvironments();
  const directory = mkdtempSync(join(tmpdir(), "berth-silent-"));
  const real = await processDriver({ directory, install: "one", network: "shared", runtimes, log: strictLog() });
  onTestFinished(async () => {
    for (const { id } of await real.list()) await real.stop(id, 0);
    await rm(await socketFolder(directory), { recursive: true });
    await rm(directory, { recursive: true, force: true });
  });
  await real.prepare("jupyter");
  const drivers = new Map([["host", real]]);
  const statusOf = async (id: string) => {
    await base.pass({ drivers });
    return (await base.read(id)).status;
  };
  return { ...base, real, statusOf };
}

test("G106 an environment that removes JupyterLab's socket is stopped with its time, and starts again", {
  timeout: 300_000,
}, async () => {
  const { db, real, rent, read, want, statusOf } = await setup();
  const becomes = (id: string, status: string) =>
    expect.poll(() => statusOf(id), { timeout: 120_000, interval: 200 }).toBe(status);
  const id = await rent({ durationHours: 6 });
  await becomes(id, "active");
  const seen = await real.observe(id);
  if (seen.state !== "running" || !("socketPath" in seen.endpoint)) throw new Error("it does not run on a socket");
  await rm(seen.endpoint.socketPath);
  await becomes(id, "pending");
  expect(await read(id)).toMatchObject({ fault_since: null, down_since: expect.any(Date) });
  await sql`update environments set give_up_at = now()`.execute(db);
  await becomes(id, "stopped");
  const row = await read(id);
  expect(row).toMatchObject({ stop_reason: "silent", ended_reason: null });
  expect(row.banked_seconds / 3600).toBeCloseTo(6, 1);
  expect(await real.observe(id)).toEqual({ state: "absent" });
  await sql`
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id) select 'again', min(id), 'environment', ${id} from gpus`.execute(
    db,
  );
  await want(id, "running");
  await becomes(id, "active");
});
