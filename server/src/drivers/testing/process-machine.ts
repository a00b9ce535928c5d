import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strictLog } from "../../logging/testing/record-log.ts";
import { processDriver } from "../process/process-driver.ts";
import { runStates } from "../process/run-states.ts";
import { socketFolder } from "../process/socket-folder.ts";

/** Prepared once and kept between test runs: it takes half a minute. */
const runtimes = join(import.meta.dirname, "../../../../node_modules/.cache/berth/runtimes");

/** A data folder of its own, and drivers on it; `close` ends its runs and deletes it. */
export async function openProcessMachine() {
  const directory = mkdtempSync(join(tmpdir(), "berth-test-"));
  const open = (install = "one", network: "shared" | "off" = "shared", at = directory) =>
    processDriver({ directory: at, install, network, runtimes, log: strictLog() });
  const states = runStates(join(directory, "environments", "one"));
  const close = async () => {
    const driver = await open();
    for (const { id } of await driver.list()) await driver.stop(id, 0);
    await rm(await socketFolder(directory), { recursive: true });
    await rm(directory, { recursive: true, force: true });
  };
  return { directory, runtimes, open, states, close };
}
