import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { recordLog } from "../logging/testing/record-log.ts";
import { emptyDatabase } from "../testing/server-process.ts";
import { openDatabase } from "./database.ts";
import { keepListening } from "./keep-listening.ts";
import { silentNetwork } from "./testing/silent-network.ts";

test("a connection that listens and no longer answers, though it is open, is replaced", async () => {
  const { connection } = await emptyDatabase();
  const { log, lines } = recordLog();
  const { db, close } = await openDatabase(connection, log);
  onTestFinished(close);
  const network = await silentNetwork(connection.host ?? "");
  const heard: string[] = [];
  let resets = 0;
  const stop = await keepListening({
    connection: { ...connection, host: network.folder },
    ...{ channel: "changes", listener: (payload) => heard.push(payload), reset: () => (resets += 1) },
    ...{ log, checkMs: 300 },
  });
  onTestFinished(stop);
  const say = (word: string) => sql`select pg_notify('changes', ${word})`.execute(db);
  const options = { timeout: 30_000, interval: 20 };
  await say("before");
  await expect.poll(() => heard, options).toEqual(["before"]);
  network.forget();
  await say("lost");
  await expect.poll(() => resets, options).toBeGreaterThan(1);
  await say("after");
  await expect.poll(() => heard, options).toEqual(["before", "after"]);
  expect(network.opened()).toBeGreaterThan(1);
  expect(lines.map(({ event }) => event)).toContain("database.listening_failed");
}, 60_000);
