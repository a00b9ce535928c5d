import { rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "../database/embedded/embedded.ts";
import { memoryFolder } from "../database/testing/memory-folder.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { dataFolder, start } from "../testing/server-process.ts";

const outageSeconds = 5;

/** A PostgreSQL of its own that the test can stop. */
async function openCluster() {
  const directory = memoryFolder("berth-cluster-");
  const { connection, stop } = await startEmbedded({ directory, fsync: false, log: silentLogger });
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { user, password, host = "", database } = connection;
  return { stop, url: `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}` };
}

test("an outage of the database logs less than a line a second", async () => {
  const cluster = await openCluster();
  const product = start({ DATA_DIR: dataFolder(), DATABASE_URL: cluster.url, LOG_LEVEL: "info" });
  const url = (await product.url()).replace("localhost", "127.0.0.1");
  const before = product.logged().length;
  await cluster.stop();
  const end = performance.now() + outageSeconds * 1000;
  let refused = 0;
  const ask = async () => {
    while (performance.now() < end) {
      const { status } = await fetch(`${url}/capacity`);
      if (status === 503) refused++;
      await wait(20);
    }
  };
  await Promise.all([ask(), ask(), ask()]);
  const lines = product.logged().slice(before);
  expect(refused).toBeGreaterThan(outageSeconds);
  expect(lines).toContainEqual(expect.objectContaining({ event: "database.unreachable", during: expect.any(String) }));
  // What repeats is counted in windows of ten seconds and more (create-logger.test).
  expect(lines.length, JSON.stringify(lines)).toBeLessThan(outageSeconds);
}, 120_000);
