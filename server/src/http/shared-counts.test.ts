import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { sharedCounts } from "./shared-counts.ts";

const database = await testDatabase();
const { db } = database;

let keys = 0;

/** A key of its own, and `replicas` that count it. */
function setup({ limit = 300, replicas = 1, at = db, key = `key ${keys++}` } = {}) {
  const stores = Array.from({ length: replicas }, () => new (sharedCounts(at))({}));
  const ask = (store: (typeof stores)[number]) =>
    new Promise<{ current: number; ttl: number }>((resolve, reject) => {
      const incr = store.incr as (...given: unknown[]) => void;
      const answer = (error: Error | null, result: { current: number; ttl: number }) =>
        error ? reject(error) : resolve(result);
      incr(key, answer, 60_000, limit);
    });
  /** How many of `times` requests at each replica are within the limit. */
  const granted = async (times: number) => {
    const asked = stores.flatMap((store) => Array.from({ length: times }, () => ask(store)));
    return (await Promise.all(asked)).filter(({ current }) => current <= limit).length;
  };
  return { key, stores, ask, granted };
}

test("one replica grants exactly its limit, and counts down", async () => {
  const { stores, ask, granted } = setup({ limit: 50 });
  const seen: number[] = [];
  for (const store of [...stores, ...stores, ...stores]) seen.push((await ask(store)).current);
  expect(seen).toEqual([1, 2, 3]);
  expect(await granted(100)).toBe(47);
});

test.each([20, 120, 300])("three replicas together grant %i, or at most a tenth less (G175)", async (limit) => {
  const { granted } = setup({ limit, replicas: 3 });
  const sum = await granted(limit);
  expect(sum).toBeLessThanOrEqual(limit);
  expect(sum).toBeGreaterThanOrEqual(limit * 0.9);
});

test("a limit that is used up is so at a replica that starts", async () => {
  const { key, granted } = setup({ limit: 40, replicas: 2 });
  await granted(60);
  expect(await setup({ limit: 40, key }).granted(60)).toBe(0);
  await sql`update attempt_windows set ends_at = now()`.execute(db);
  expect(await setup({ limit: 40, key }).granted(60)).toBe(40);
});

test("without an answer of the database each replica counts alone", async () => {
  await using away = await testDatabase();
  await away.db.destroy();
  const { granted } = setup({ limit: 40, replicas: 3, at: away.db });
  expect(await granted(60)).toBe(120);
});
