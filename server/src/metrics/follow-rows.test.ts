import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Db } from "../database/database.ts";
import { testDatabase } from "../database/testing.ts";
import { followRows } from "./follow-rows.ts";

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const follow = followRows<{ readonly id: string }>(
    async (from: Db, since) =>
      (await sql<{ id: string }>`select id from journal where at > ${since} order by id`.execute(from)).rows,
  );
  return {
    add: (id: string, ago = "0 s") =>
      sql`insert into journal (id, kind, source_id, at) values (${id}, 'capture', ${id}, now() - ${ago}::interval)`.execute(
        db,
      ),
    next: async () => (await follow(db)).map(({ id }) => id),
  };
}

test("each row is returned once, from the first call on, also one that was committed late", async () => {
  const { add, next } = await setup();
  await add("before");
  expect(await next()).toEqual([]);
  await add("one");
  await add("committed-late", "60 s");
  expect(await next()).toEqual(["committed-late", "one"]);
  expect(await next()).toEqual([]);
  await add("two");
  expect(await next()).toEqual(["two"]);
});
