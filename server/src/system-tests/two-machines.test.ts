import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../database/database.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";

test("a worker with another machine as its local host is refused in words, and the first goes on (G190)", async () => {
  const { url: DATABASE_URL, connection } = await emptyDatabase();
  const common = { DATABASE_URL, IDENTITY_SECRET: "one secret for both of these workers" };
  const folder = dataFolder();
  const first = start({ ...common, DATA_DIR: folder });
  const url = await first.url();
  const { db, close } = await openDatabase(connection, silentLogger);
  onTestFinished(close);
  const second = start({ ...common, DATA_DIR: dataFolder() });
  await expect.poll(() => second.logged().map(({ event }) => event), { timeout: 60_000 }).toContain("worker.waits");
  // As its next renewal, which would be in up to 15 s.
  await sql`update workers set seen_at = now()`.execute(db);
  expect(await second.ended).toBe(1);
  expect(second.said.err).toMatch(
    /A worker on \S+ has another machine as the host local \(.*\): each would take the other's environments for lost/,
  );
  expect((await fetch(`${url}/config`)).status).toBe(200);
  const workers = await db.selectFrom("workers").select("machine").execute();
  expect(workers).toEqual([{ machine: expect.stringContaining(folder) }]);
  first.child.kill("SIGTERM");
  expect(await first.ended, first.said.err).toBe(0);
  expect(await db.selectFrom("workers").selectAll().execute()).toEqual([]);
}, 120_000);
