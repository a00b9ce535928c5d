import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "./testing.ts";

const statements = sql<{
  statement: string;
}>`select statement from pg_prepared_statements where statement like 'select%pets%'`;

test("a frequent query is prepared, a single one is not", async () => {
  await using database = await testDatabase();
  await database.db.connection().execute(async (db) => {
    await sql`create temporary table pets (name text)`.execute(db);
    const often = () => sql`select name from pets where name = ${"rex"}`.execute(db);
    await sql`select name from pets where name <> ${"rex"}`.execute(db);
    for (let n = 0; n < 4; n++) await often();
    expect((await statements.execute(db)).rows).toEqual([{ statement: "select name from pets where name = $1" }]);
  });
});

test("a column that a migration adds causes no error, and appears in select *", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await sql`create table pets (name text)`.execute(db);
  await sql`insert into pets values ('rex')`.execute(db);
  const all = () => sql<object>`select * from pets where name = ${"rex"}`.execute(db);
  for (let n = 0; n < 5; n++) await all();
  await sql`alter table pets add age int`.execute(db);
  for (let n = 0; n < 5; n++) expect((await all()).rows).toEqual([{ name: "rex", age: null }]);
  await sql`alter table pets drop age`.execute(db);
  const inside = () =>
    db.transaction().execute(async (tx) => (await sql`select * from pets where name = ${"rex"}`.execute(tx)).rows);
  const [first, second] = [await inside().catch(() => "refused once"), await inside()];
  expect(["refused once", [{ name: "rex" }]]).toContainEqual(first);
  expect(second).toEqual([{ name: "rex" }]);
});
