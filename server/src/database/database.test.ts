import { sql } from "kysely";
import { expect, test } from "vitest";
import { isUniqueViolation } from "./database.ts";
import { newId } from "./ids.ts";
import { testDatabase } from "./testing.ts";

test("a migrated database answers, and hears what a row change tells", async () => {
  await using database = await testDatabase();
  const heard: string[] = [];
  await database.listen("changes", (payload) => heard.push(payload));
  const id = newId();
  const row = { id, user_id: "u", cause: "welcome", title: "t", body: "b" };
  await database.db.insertInto("notifications").values(row).execute();
  await expect
    .poll(() => heard.map((payload) => JSON.parse(payload)))
    .toEqual([{ kind: "notification", id, user: "u" }]);
  const again = await database.db
    .insertInto("notifications")
    .values({ ...row, id: newId() })
    .execute()
    .catch((error: unknown) => error);
  expect(isUniqueViolation(again, "notifications_user_id_cause_key")).toBe(true);
});

test("big integers arrive as numbers", async () => {
  await using database = await testDatabase();
  const { rows } = await sql<{ n: number }>`select 5000000000::bigint as n`.execute(database.db);
  expect(rows[0]?.n).toBe(5_000_000_000);
});

test("ids are 25 characters of 0-9 and a-z, random from the first", () => {
  const ids = Array.from({ length: 2000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-z]{25}$/);
  expect(new Set(ids.map((id) => id[0])).size).toBe(36);
});
