import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { ownShare } from "./own-share.ts";

test("living workers divide the environments, and the share of a killed one goes to the others (G191)", async () => {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const shareOf = async (worker: string | undefined) => {
    const { rows } = await sql<{ id: string }>`
      select id from (select md5(n::text) as id from generate_series(1, 300) n) e where ${ownShare(worker, sql.ref("e.id"))}`.execute(
      db,
    );
    return rows.map(({ id }) => id);
  };
  const names = ["a", "b", "c"];
  const all = await shareOf(undefined);
  expect(all).toHaveLength(300);
  for (const id of names) await db.insertInto("workers").values({ id, machine: "one", host_name: "gpu-1" }).execute();
  const shares = await Promise.all(names.map(shareOf));
  for (const share of shares) expect(share.length).toBeGreaterThan(60);
  expect(shares.flat().toSorted()).toEqual(all.toSorted());
  await sql`update workers set seen_at = now() - interval '61 seconds' where id = 'a'`.execute(db);
  const left = await Promise.all(["b", "c"].map(shareOf));
  expect(left.flat().toSorted()).toEqual(all.toSorted());
});
