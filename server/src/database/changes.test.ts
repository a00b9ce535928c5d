import { sql } from "kysely";
import { expect, test } from "vitest";
import { openChanges } from "./changes.ts";
import { testDatabase } from "./testing.ts";

test("a notification that no trigger sent makes subscribers read again, and the next change arrives", async () => {
  await using database = await testDatabase();
  const changes = await openChanges(database);
  const received: string[] = [];
  changes.subscribe(
    ({ kind }) => received.push(kind),
    () => received.push("missed"),
  );
  for (const payload of ["", "not json", "null", JSON.stringify({ kind: "home", id: "h", user: "u" })])
    await sql`select pg_notify('changes', ${payload})`.execute(database.db);
  await expect.poll(() => received).toEqual(["missed", "missed", "missed", "home"]);
});
