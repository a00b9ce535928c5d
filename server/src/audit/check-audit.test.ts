import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { checkAudit } from "./check-audit.ts";
import { recordAct } from "./record-act.ts";

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  return {
    db,
    async record(count: number) {
      for (let n = 0; n < count; n += 1)
        await db
          .transaction()
          .execute((tx) => recordAct(tx, { actor: "cli:ada", reason: "" }, "host.drain", `gpu-${n}`));
    },
    /** As somebody who may do everything in the database. */
    tamper: (statement: string) =>
      db.connection().execute(async (connection) => {
        await sql`set session_replication_role = replica`.execute(connection);
        await sql.raw(statement).execute(connection);
        await sql`set session_replication_role = default`.execute(connection);
      }),
    noted: () => db.selectFrom("audit_checks").select(["last_id", "whole_at"]).executeTakeFirst(),
    aDayLater: () => sql`update audit_checks set whole_at = whole_at - interval '25 hours'`.execute(db),
  };
}

test("G149 an audit without acts is whole; each look begins after the last act that was verified", async () => {
  const { record, noted, tamper, aDayLater, db } = await setup();
  expect([await checkAudit(db), await noted()]).toEqual([undefined, undefined]);
  await record(3);
  expect(await checkAudit(db)).toBeUndefined();
  const first = await noted();
  expect(first?.last_id).toBe(3);
  await record(2);
  expect(await checkAudit(db)).toBeUndefined();
  expect(await noted()).toEqual({ last_id: 5, whole_at: first?.whole_at });
  await tamper("update audit set reason = 'another' where id = 2");
  expect(await checkAudit(db), "not computed again within a day").toBeUndefined();
  await aDayLater();
  expect(await checkAudit(db)).toBe("Act 2 was changed or is missing; the 1 before it are whole");
  await tamper("update audit set reason = '' where id = 2");
  expect(await checkAudit(db)).toBeUndefined();
  expect((await noted())?.whole_at.getTime()).toBeGreaterThanOrEqual(first?.whole_at.getTime() ?? 0);
});

test("G149 a changed act after the last look is found, and acts that were cut off too", async () => {
  const { record, noted, tamper, db } = await setup();
  await record(3);
  await checkAudit(db);
  await record(3);
  await tamper("update audit set actor = 'cli:eve' where id = 5");
  expect(await checkAudit(db)).toBe("Act 5 was changed or is missing; the 4 before it are whole");
  expect((await noted())?.last_id).toBe(3);
  await tamper("delete from audit where id > 2");
  expect(await checkAudit(db)).toMatch(
    /^Act 3, which was whole at an earlier look, was changed or is missing, or acts/,
  );
});
