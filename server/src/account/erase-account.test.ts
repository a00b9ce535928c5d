import { sql } from "kysely";
import { expect, test } from "vitest";
import { writeSamples } from "../environments/activity/samples.ts";
import { testApp } from "../testing/test-app.ts";
import { eraseAccount } from "./erase-account.ts";

test("an environment that ends in the same moment, cookies included, does not meet the deletion half-way", async () => {
  const { db, identity, signUp, rent, deliver } = await testApp({});
  const stopDelivery = deliver();
  const ada = await signUp("Ada Lovelace");
  const { environment_id: id } = await rent(ada, { subdomain: "leaving-lab", gpu_count: 1 });
  await stopDelivery();
  await sql`insert into grants (id, user_id, environment_id) values ('grant', ${ada.id}, ${id})`.execute(db);

  let erasing: Promise<void> | undefined;
  await db.transaction().execute(async (tx) => {
    await sql`update environments set stage = 'ending' where id = ${id}`.execute(tx);
    erasing = eraseAccount(db, identity, ada.id);
    await expect.poll(() => waitingForLocks(db)).toBe(1);
    // As the end of an environment does, which holds its row.
    await sql`update grants set revoked_at = now() where environment_id = ${id}`.execute(tx);
  });
  await erasing;
  expect(await db.selectFrom("deleted_accounts").select("user_id").execute()).toEqual([{ user_id: ada.id }]);
});

test("a measurement that is being written at the moment of the deletion is deleted too", async () => {
  const { db, identity, signUp, rent, deliver } = await testApp({});
  const stopDelivery = deliver();
  const ada = await signUp("Ada Lovelace");
  const { environment_id: environmentId } = await rent(ada, { subdomain: "leaving-lab", gpu_count: 1 });
  await stopDelivery();

  const usage = { cpuCores: 1, memoryMb: 1, homeMb: 1, receivedBytesPerSecond: null, sentBytesPerSecond: null };
  const gpus = [{ id: "gpu", usePercent: 1, memoryMb: 1, watts: 1 }];
  const { writing, erasing } = await db.transaction().execute(async (tx) => {
    await sql`lock table gpu_samples in share mode`.execute(tx);
    const writing = writeSamples(db, [{ environmentId, ...usage, gpus }]);
    await expect.poll(() => waitingForLocks(db)).toBe(1);
    const erasing = eraseAccount(db, identity, ada.id);
    await expect.poll(() => waitingForLocks(db)).toBe(2);
    return { writing, erasing };
  });
  await Promise.all([writing, erasing]);
  expect(await db.selectFrom("samples").selectAll().execute()).toEqual([]);
  expect(await db.selectFrom("gpu_samples").selectAll().execute()).toEqual([]);
});

async function waitingForLocks(db: Parameters<typeof eraseAccount>[0]): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}
