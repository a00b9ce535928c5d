import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { auditHash, noHash } from "../../audit/audit-hash.ts";
import { auditWitness } from "../../audit/audit-witness.ts";
import { checkAudit } from "../../audit/check-audit.ts";
import { recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { testDatabase } from "../../database/testing.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { witnessOf } from "../with-database.ts";
import { watchAudit } from "./start-audit-watch.ts";

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const folder = mkdtempSync(join(tmpdir(), "berth-audit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "audit-head");
  const secret = "5".repeat(64);
  const witness = auditWitness(folder, secret);
  const { log, lines } = recordLog();
  const deps = { db, witness, brandName: "Berth", to: "ops@berth.example", log };
  const record = () =>
    db.transaction().execute((tx) => recordAct(tx, { actor: "cli:ada", reason: "" }, "host.drain", "gpu-1"));
  return {
    ...{ db, witness, lines, record, file, watch: () => watchAudit(deps) },
    watchWithoutMail: () => watchAudit({ ...deps, to: undefined }),
    ofCommands: witnessOf({ dataDir: folder, secret }),
    /** As who owns the database and knows how hashes are made: every act has another actor, and the last one is gone. */
    async rewrite() {
      const rows = await db.selectFrom("audit").selectAll().orderBy("id").execute();
      await db.connection().execute(async (connection) => {
        await sql`set session_replication_role = replica; delete from audit`.execute(connection);
        let hash: Buffer = noHash;
        for (const row of rows.slice(0, -1)) {
          hash = auditHash(hash, { ...row, actor: "cli:eve" });
          const details = JSON.stringify(row.details);
          await connection
            .insertInto("audit")
            .values({ ...row, actor: "cli:eve", details, hash })
            .execute();
        }
        await sql`update audit_checks set last_id = ${rows.length - 1}, last_hash = ${hash}`.execute(connection);
        await sql`set session_replication_role = default`.execute(connection);
      });
    },
  };
}

test("G312 who owns the database and writes every hash again is found by the seal, and by the file beside the data", async () => {
  const { db, witness, record, rewrite, watch, lines, file } = await setup();
  for (let n = 0; n < 3; n++) await record();
  await watch();
  expect(await checkAudit(db, witness)).toBeUndefined();
  expect(await checkAudit(db), "a program without the secret writes no seal over it").toBeUndefined();
  expect(await checkAudit(db, witness)).toBeUndefined();
  await rewrite();
  expect(await checkAudit(db), "the chain by itself is whole").toBeUndefined();
  expect(await checkAudit(db, witness)).toMatch(/^Act 3, whose hash the file audit-head of DATA_DIR has, was changed/);
  rmSync(file);
  const forged =
    "The seal of an earlier look at the acts is not this installation's: somebody without its secret wrote it";
  expect(await checkAudit(db, witness)).toBe(forged);
  await watch();
  expect(lines.map(({ event, msg }) => [event, msg]).slice(1)).toEqual([["audit.broken", forged]]);
});

test("G312 the first look of this version seals what was before; a seal that was taken away is found", async () => {
  const { db, witness, record } = await setup();
  await record();
  expect(await checkAudit(db)).toBeUndefined();
  expect(await checkAudit(db, witness)).toBeUndefined();
  await sql`update audit_checks set seal = null`.execute(db);
  expect(await checkAudit(db, witness)).toBe("The seal of an earlier look at the acts was taken away");
});

test("G312 two first looks at once, one of them without the secret, take no seal away", async () => {
  for (const isSealing of [true, false]) {
    const { db, witness, record } = await setup();
    await record();
    const slow = afterFirstReply(db, () => checkAudit(db, witness));
    expect(await checkAudit(slow, isSealing ? witness : undefined)).toBeUndefined();
    expect(await checkAudit(db, witness)).toBeUndefined();
  }
});

test("G312 a command compares and seals, and leaves the file to the server, which may be another user", async () => {
  const { db, record, watch, file, ofCommands } = await setup();
  await record();
  expect(await checkAudit(db, ofCommands)).toBeUndefined();
  expect(existsSync(file)).toBe(false);
  await watch();
  expect(ofCommands?.lastSeen()).toMatchObject({ id: 1 });
});

test("G312 the newest hash goes to the log and to CONTACT_EMAIL once a day, where there are new acts", async () => {
  const { db, record, watch, lines } = await setup();
  const mails = () =>
    db.selectFrom("mails").select(["recipient", "subject", "body_text"]).orderBy("created_at").execute();
  const aDayLater = () => sql`update audit_checks set sent_at = sent_at - interval '25 hours'`.execute(db);
  await watch();
  expect(lines).toEqual([]);
  await record();
  await watch();
  await record();
  await watch();
  const [line] = lines;
  expect(lines).toEqual([
    expect.objectContaining({ event: "audit.head", acts: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }),
  ]);
  const hash = (line as unknown as { hash: string }).hash;
  expect(await mails()).toEqual([
    {
      recipient: "ops@berth.example",
      subject: "Berth: 1 acts of operators",
      body_text: expect.stringContaining(`audit verify --head ${hash}`),
    },
  ]);
  await aDayLater();
  await watch();
  expect((await mails()).map(({ subject }) => subject).slice(1)).toEqual(["Berth: 2 acts of operators"]);
  await aDayLater();
  await watch();
  expect(await mails()).toHaveLength(2);
});

test("G312 without a mail server, or a CONTACT_EMAIL of the operator's own, the hash is in the log alone", async () => {
  const { db, record, watchWithoutMail, lines } = await setup();
  await record();
  await watchWithoutMail();
  expect(lines).toEqual([expect.objectContaining({ event: "audit.head", acts: 1 })]);
  expect(await db.selectFrom("mails").selectAll().execute()).toEqual([]);
});

/** The first reply of the database arrives after `between`. */
function afterFirstReply(db: Db, between: () => Promise<unknown>): Db {
  let isFirst = true;
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isFirst) {
        isFirst = false;
        await between();
      }
      return result;
    },
  });
}
