import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../database/database.ts";
import { testDatabase } from "../database/testing.ts";
import { readAudit, verifyAudit } from "./read-audit.ts";
import { recordAct, requireReason } from "./record-act.ts";

const ada = { actor: "cli:ada", reason: "It is loud" };

/** Appends so many acts about `user-N`, in transactions of a hundred. */
async function recordMany(db: Db, count: number): Promise<void> {
  for (let from = 0; from < count; from += 100)
    await db.transaction().execute(async (tx) => {
      for (let n = from; n < Math.min(count, from + 100); n += 1)
        await recordAct(tx, ada, "hold.lift", `user-${n}`, { z: n, a: "ü", b: null });
    });
}

/** Runs SQL as a superuser who switches triggers off. */
async function tamper(db: Db, statement: string): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql.raw(statement).execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
  });
}

test("G118 a thousand acts verify; one changed byte anywhere is found, and names its row", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await recordMany(db, 1000);
  const whole = await verifyAudit(db);
  expect(whole).toEqual({ acts: 1000, head: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const changes = [
    "at = at + interval '1 millisecond'",
    "actor = 'cli:adb'",
    "act = 'hold.lifs'",
    "subject_kind = 'uses'",
    "subject_id = subject_id || '0'",
    "reason = 'It is loue'",
    `details = details || '{"b": 0}'`,
    `details = details - 'z'`,
    "hash = set_byte(hash, 31, get_byte(hash, 31) # 1)",
  ];
  for (const [index, change] of changes.entries()) {
    const id = [1, 500, 1000][index % 3] ?? 1;
    await sql`create table kept as select * from audit where id = ${id}`.execute(db);
    await tamper(db, `update audit set ${change} where id = ${id}`);
    expect(await verifyAudit(db), change).toMatchObject({ acts: id - 1, broken: id });
    await tamper(db, `delete from audit where id = ${id}; insert into audit select * from kept; drop table kept`);
  }
  expect(await verifyAudit(db)).toEqual(whole);
});

test("G118 a missing row is found; rows cut off at the end are found by a hash that was noted before", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await recordMany(db, 5);
  const { head } = await verifyAudit(db);
  await recordMany(db, 2);
  expect(await verifyAudit(db, head)).toMatchObject({ acts: 7, found: true });
  await tamper(db, "delete from audit where id > 4");
  expect(await verifyAudit(db)).toMatchObject({ acts: 4 });
  expect(await verifyAudit(db, head)).toMatchObject({ acts: 4, found: false });
  await tamper(db, "delete from audit where id = 2");
  expect(await verifyAudit(db)).toMatchObject({ acts: 1, broken: 2 });
});

test("G118 nobody changes, deletes or truncates an act, and a refused act leaves none", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await recordMany(db, 1);
  for (const statement of ["update audit set reason = ''", "delete from audit", "truncate audit"])
    await expect(sql.raw(statement).execute(db)).rejects.toThrow("audit is append-only");
  const refused = db.transaction().execute(async (tx) => {
    await recordAct(tx, ada, "host.drain", "host");
    throw new Error("refused");
  });
  await expect(refused).rejects.toThrow("refused");
  expect(await verifyAudit(db)).toMatchObject({ acts: 1 });
});

test("G118 acts at the same time take their places one after the other", async () => {
  await using database = await testDatabase();
  const { db } = database;
  const act = (n: number) => db.transaction().execute((tx) => recordAct(tx, ada, "gpu.release", `gpu-${n}`));
  await Promise.all(Array.from({ length: 16 }, (_, n) => act(n)));
  expect(await verifyAudit(db)).toEqual({ acts: 16, head: expect.any(String) });
});

test("acts are listed newest first, by time, subject and number", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await recordMany(db, 3);
  await recordMany(db, 1);
  const all = await readAudit(db, { limit: 3 });
  expect(all.map(({ id, subject_id }) => [id, subject_id])).toEqual([
    [4, "user-0"],
    [3, "user-2"],
    [2, "user-1"],
  ]);
  expect(all[0]).toMatchObject({ ...ada, act: "hold.lift", subject_kind: "user", details: { z: 0, a: "ü", b: null } });
  expect(await readAudit(db, { limit: 9, subject: "user-0" })).toHaveLength(2);
  await sql`
    insert into support_tickets (id, code, user_id, email, issue_type, description)
    values ('user-0', 'BRT-1', 'ada', 'ada@uni.example', 'other', 'x')`.execute(db);
  expect(await readAudit(db, { limit: 9, subject: "BRT-1" }), "by the code of a ticket").toHaveLength(2);
  expect(await readAudit(db, { limit: 9, since: all[0]?.at })).toHaveLength(1);
  expect(await readAudit(db, { limit: 9, since: new Date(Date.now() + 60_000) })).toEqual([]);
});

test("a reason is trimmed, has an end, and is there where it is needed", async () => {
  await using database = await testDatabase();
  const { db } = database;
  const record = (reason: string) =>
    db.transaction().execute((tx) => recordAct(tx, { actor: "cli:ada", reason }, "host.drain", "host"));
  await record("  moved ");
  expect(await readAudit(db, { limit: 1 })).toMatchObject([{ reason: "moved" }]);
  await expect(record("x".repeat(1001))).rejects.toThrow("A reason has at most 1000 characters, not 1001");
  expect(() => requireReason({ actor: "cli:ada", reason: "  " })).toThrow("This needs a reason");
});
