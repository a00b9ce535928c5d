import { expect, test } from "vitest";
import { openChanges } from "../../database/changes.ts";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import { waitUntil } from "./wait-until.ts";

/** Far beyond the test's own timeout: a wait that lasts so long has missed its notification. */
const neverMs = 600_000;

test("a wait ends at once when it is aborted", async () => {
  await using database = await testDatabase();
  const changes = await openChanges(database);
  const shutdown = new AbortController();
  const read = async () => {
    // By then the read is over and the wait has begun.
    setImmediate(() => shutdown.abort());
    return undefined;
  };
  const { signal } = shutdown;
  expect(
    await waitUntil({ changes, userId: "ada", timeoutMs: neverMs, fallbackMs: neverMs, signal, read }),
  ).toBeUndefined();
});

test("a wait reads again after a change of this user, and after no other", async () => {
  await using database = await testDatabase();
  const changes = await openChanges(database);
  const tell = (userId: string) =>
    database.db
      .insertInto("notifications")
      .values({ id: newId(), user_id: userId, cause: "x", title: "", body: "" })
      .execute();
  const ofBen = Promise.withResolvers<void>();
  let looks = 0;
  const read = async () => (++looks === 2 ? "there" : undefined);
  const waiting = waitUntil({ changes, userId: "ada", timeoutMs: neverMs, fallbackMs: neverMs, read });
  // Subscribed after the wait, so the wait has been notified by then.
  const unsubscribe = changes.subscribe(({ user }) => user === "ben" && ofBen.resolve(), ofBen.reject);
  await tell("ben");
  await ofBen.promise;
  await new Promise(setImmediate);
  expect(looks).toBe(1);
  unsubscribe();
  await tell("ada");
  expect(await waiting).toBe("there");
  expect(looks).toBe(2);
});

test("a change during a read is not lost", async () => {
  await using database = await testDatabase();
  const changes = await openChanges(database);
  let looks = 0;
  const read = async () => {
    if (++looks === 2) return "there";
    const heard = Promise.withResolvers<void>();
    const unsubscribe = changes.subscribe(() => heard.resolve(), heard.resolve);
    const row = { id: newId(), user_id: "ada", cause: "x", title: "", body: "" };
    await database.db.insertInto("notifications").values(row).execute();
    await heard.promise;
    unsubscribe();
    return undefined;
  };
  expect(await waitUntil({ changes, userId: "ada", timeoutMs: neverMs, fallbackMs: neverMs, read })).toBe("there");
});
