import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../logging/create-logger.ts";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { openDatabase } from "./database.ts";
import { hearsNotifications } from "./hears-notifications.ts";
import { transactionPooler } from "./testing/transaction-pooler.ts";

/** A database with an address of its own, and one through a pooler. */
async function setup() {
  const { url, connection } = await emptyDatabase();
  const pooled = await transactionPooler(connection.host ?? "");
  const { db, close } = await openDatabase({ ...connection, host: pooled }, silentLogger);
  onTestFinished(close);
  const pooledUrl = url.replace(/host=.*/, `host=${encodeURIComponent(pooled)}`);
  return { db, url, pooledUrl };
}

test("notifications are heard at the database, not through a pooler, and not at another database (G176)", async () => {
  const { db, url, pooledUrl } = await setup();
  const other = await emptyDatabase();
  const heard = (connectionString: string, listenString?: string) =>
    hearsNotifications(db, { connectionString, listenString }, 500);
  expect(await heard(pooledUrl)).toBe(false);
  expect(await heard(pooledUrl, other.url)).toBe(false);
  // No limit of time: it is heard however late.
  expect(await hearsNotifications(db, { connectionString: pooledUrl, listenString: url }, 60_000)).toBe(true);
});

test("a start through a pooler is refused in words, and not with the database's own address beside it", async () => {
  const { url, pooledUrl } = await setup();
  const begin = (env: Record<string, string>) => start({ DATA_DIR: dataFolder(), DATABASE_URL: pooledUrl, ...env });
  const refused = begin({});
  expect(await refused.ended).toBe(1);
  expect(refused.said.err).toBe(
    "No notification of DATABASE_URL arrives: it leads through a pooler in transaction mode. Name the database's own address in DATABASE_LISTEN_URL.\n",
  );
  await begin({ DATABASE_LISTEN_URL: url }).url();
  const nowhere = begin({ DATABASE_LISTEN_URL: "postgres://berth@127.0.0.1:1/berth" });
  expect(await nowhere.ended).toBe(1);
  expect(nowhere.said.err).toMatch(/^The database of DATABASE_LISTEN_URL cannot be reached: .*ECONNREFUSED/);
}, 90_000);
