import { defaultCatalogue } from "@berth/contract";
import { expect, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { announceByBell, listNotifications, markRead, welcoming } from "./notifications.ts";

test("a new user has three unread, however often they are welcomed", async () => {
  await using database = await testDatabase();
  const { db } = database;
  for (const _ of [1, 2]) await db.transaction().execute((tx) => welcoming(30, defaultCatalogue)(tx, { id: "ada" }));
  const { unread, notifications } = await listNotifications(db, "ada");
  expect(unread).toBe(3);
  expect(new Set(notifications.map(({ title }) => title)).size).toBe(3);
});

test("reading one leaves the others, reading none in particular reads all, and never another user's", async () => {
  await using database = await testDatabase();
  const { db } = database;
  for (const id of ["ada", "ben"]) await db.transaction().execute((tx) => welcoming(30, defaultCatalogue)(tx, { id }));
  const [first] = (await listNotifications(db, "ada")).notifications;
  await markRead(db, "ben", [first?.id ?? ""]);
  expect((await listNotifications(db, "ada")).unread).toBe(3);
  await markRead(db, "ada", [first?.id ?? ""]);
  expect((await listNotifications(db, "ada")).unread).toBe(2);
  await markRead(db, "ada", []);
  expect((await listNotifications(db, "ada")).unread).toBe(0);
  expect((await listNotifications(db, "ben")).unread).toBe(3);
});

test("the list is limited to fifty, the count is not", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await db.transaction().execute(async (tx) => {
    for (let n = 0; n < 60; n++)
      await announceByBell(tx, { userId: "ada", cause: `n:${n}`, title: `${n}`, body: "", link: null });
  });
  const { unread, notifications } = await listNotifications(db, "ada");
  expect([unread, notifications.length]).toEqual([60, 50]);
});
