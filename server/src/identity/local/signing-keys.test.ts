import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { sealOf } from "../seal.ts";
import { signingKeys } from "./signing-keys.ts";

async function setup() {
  const database = await testDatabase();
  onTestFinished(() => database.close());
  const secret = randomBytes(32);
  const { db } = database;
  return { db, secret, start: (own = secret) => signingKeys(db, sealOf(own, "test")) };
}

test("concurrent calls in several processes create one key", async () => {
  const { start, db } = await setup();
  const processes = [start(), start(), start()];
  const current = await Promise.all(processes.flatMap((keys) => [keys.current(), keys.current()]));
  expect(new Set(current.map(({ kid }) => kid)).size).toBe(1);
  expect(await db.selectFrom("identity_key").select("kid").execute()).toHaveLength(1);
});

test("published and unsealed keys contain no private key", async () => {
  const { start, db } = await setup();
  const keys = start();
  await keys.current();
  const row = await db.selectFrom("identity_key").selectAll().executeTakeFirstOrThrow();
  for (const jwk of [...(await keys.published()), row.public_jwk]) {
    expect(Object.keys(jwk)).toEqual(expect.arrayContaining(["kty", "n", "e"]));
    for (const secret of ["d", "p", "q", "dp", "dq", "qi", "k"]) expect(jwk).not.toHaveProperty(secret);
  }
  expect(row.private_sealed.toString("latin1")).not.toContain('"kty"');
});

test("a day before its expiry a key gets a successor; the old one verifies for two hours after it", async () => {
  const { start, db } = await setup();
  const { kid: old } = await start().current();
  await db.updateTable("identity_key").set({ not_after: sql`now() + interval '23 hours'` }).execute();
  const overlapping = start();
  expect((await overlapping.current()).kid).toBe(old);
  expect(await overlapping.published()).toHaveLength(2);

  await db
    .updateTable("identity_key")
    .set({ not_after: sql`now() - interval '1 hour'` })
    .where("kid", "=", old)
    .execute();
  const after = start();
  expect((await after.current()).kid).not.toBe(old);
  expect(await after.find(old)).toBeDefined();
  await db
    .updateTable("identity_key")
    .set({ not_after: sql`now() - interval '3 hours'` })
    .where("kid", "=", old)
    .execute();
  expect(await start().find(old)).toBeUndefined();
});

test("with another secret the old key verifies and no longer signs", async () => {
  const { start } = await setup();
  const { kid: old } = await start().current();
  const other = start(randomBytes(32));
  expect((await other.current()).kid).not.toBe(old);
  expect(await other.find(old)).toBeDefined();
});

test("an unknown kid is queried at most every five seconds", async () => {
  const { start, db } = await setup();
  const keys = start();
  const { kid } = await keys.current();
  await db.updateTable("identity_key").set({ kid: "renamed" }).where("kid", "=", kid).execute();
  expect(await keys.find("renamed"), "within the pause").toBeUndefined();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_001 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await keys.find("renamed")).toBeDefined();
});
