import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { tracesInDatabase, tracesInLog } from "./card-traces.ts";

const cards = [{ number: "4242424242424242", cvv: "9137", month: "11", year: "2093" }];

test("a card number, a CVV or an expiry is found anywhere, and nothing else is reported", async () => {
  await using database = await testDatabase();
  const { db } = database;
  expect(await tracesInDatabase(db, cards)).toEqual([]);
  await sql`create schema aside`.execute(db);
  await sql`create table aside.notes (id text, body bytea, at timestamptz)`.execute(db);
  const add = (text: string) => sql`insert into aside.notes values ('x', ${Buffer.from(text)}, now())`.execute(db);
  const hidden = [
    '{"number":"4242424242424242"}',
    "4242 4242 4242 4242",
    "4242-42424242-4242",
    '"cvv":"9137"',
    "cvv=9137",
    "11/93",
    "11 / 2093",
    '"expiry_year":2093',
    "42424242",
  ];
  for (const text of hidden) {
    await add(text);
    expect(await tracesInDatabase(db, cards), text).toEqual([expect.stringContaining("notes: x")]);
    expect(tracesInLog(`{"level":10}\n${text}\n`, cards)).toEqual([text]);
    await sql`delete from aside.notes`.execute(db);
  }
  for (const text of [
    "4242",
    "ending in 5449",
    "19137",
    "a9137",
    "0.9137",
    "order_9137x",
    '"pid":9137',
    "1/93",
    "2093000",
  ])
    expect(tracesInLog(text, cards), text).toEqual([]);
});
