import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { auditHash, noHash } from "../../server/src/audit/audit-hash.ts";
import { recordAct } from "../../server/src/audit/record-act.ts";
import type { Db } from "../../server/src/database/database.ts";
import { until } from "../../testing/customer.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";
import { type Attack, operate } from "./attack.ts";

/** Attacks on what is kept: backups, their homes, and the record of what operators did. */
export const keptData: readonly Attack[] = [
  {
    name: "34 a backup that does not end, by one sparse file in a home",
    async run({ product: { dataDir } }) {
      const home = join(dataDir, "homes", "sparse");
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, "big"), "");
      truncateSync(join(home, "big"), 4 * 2 ** 40);
      const folder = temporaryFolder();
      const ended = await operate(dataDir, ["backup", join(folder, "b.tar.gz"), "--homes"], 180_000);
      removeFolder(folder);
      removeFolder(home);
      return { tries: 1, successes: ended.code === 0 ? [] : [`it was ended after three minutes: ${ended.said}`] };
    },
  },
  {
    name: "35 a forged backup that runs its maker's program where it is verified",
    async run({ db, product: { dataDir } }) {
      const [folder, open] = [temporaryFolder(), temporaryFolder()];
      chmodSync(open, 0o777);
      const [file, mark] = [join(folder, "b.tar.gz"), join(open, "mark")];
      await plant(db, `perform 1; return true`);
      await plant(db, `copy (select 1) to program 'cat > ${mark}'; return true`);
      await operate(dataDir, ["backup", file]);
      await sql`drop table forged; drop function planted()`.execute(db);
      const others = join(folder, "others");
      mkdirSync(others);
      writeFileSync(join(others, "secret"), "0".repeat(64), { mode: 0o600 });
      const successes: string[] = [];
      const unasked = await operate(others, ["backup", "verify", file]);
      if (!/not signed with this secret/.test(unasked.said))
        successes.push(`another's backup is read: ${unasked.said}`);
      for (const words of [
        ["backup", "verify", file, "--foreign"],
        ["restore", file, "--foreign"],
      ]) {
        await operate(words[0] === "restore" ? join(folder, "new") : others, words);
        if (existsSync(mark)) successes.push(`${words.join(" ")} ran the program`);
        rmSync(mark, { force: true });
      }
      for (const each of [folder, open]) removeFolder(each);
      return { tries: 3, successes };
    },
  },
  {
    name: "38 acts of operators, written again by who owns the database",
    async run({ db, product: { dataDir } }) {
      for (let n = 0; n < 3; n++)
        await db
          .transaction()
          .execute((tx) => recordAct(tx, { actor: "cli:mallory", reason: "" }, "host.drain", `gpu-${n}`));
      const head = join(dataDir, "audit-head");
      const { last } = await db
        .selectFrom("audit")
        .select(({ fn }) => fn.max("id").as("last"))
        .executeTakeFirstOrThrow();
      const isSealed = async () => existsSync(head) && readFileSync(head, "utf8").startsWith(`${last} `);
      await until("the acts to be sealed", isSealed, 120_000);
      const successes: string[] = [];
      const undo = await rewriteAudit(db);
      const verified = async () => (await operate(dataDir, ["audit", "verify"])).said;
      const withHead = await verified();
      if (!/the file audit-head/.test(withHead)) successes.push(`it verifies: ${withHead}`);
      rmSync(head, { force: true });
      const withoutHead = await verified();
      if (!/not this installation's/.test(withoutHead))
        successes.push(`without audit-head it verifies: ${withoutHead}`);
      await undo();
      return { tries: 2, successes };
    },
  },
];

/** A check of a table's rows, which a restore runs; the first one lets the row in. */
async function plant(db: Db, body: string): Promise<void> {
  await sql
    .raw(`create or replace function planted() returns boolean language plpgsql as $$ begin ${body}; end $$`)
    .execute(db);
  await sql`create table if not exists forged (one int check (planted()))`.execute(db);
  const { rows } = await sql`select 1 from forged`.execute(db);
  if (rows.length === 0) await sql`insert into forged values (1)`.execute(db);
}

/** Another actor in every act, and every hash anew. Returns how to put it back. */
async function rewriteAudit(db: Db): Promise<() => Promise<void>> {
  const rows = await db.selectFrom("audit").selectAll().orderBy("id").execute();
  const { last_id, last_hash } = await db.selectFrom("audit_checks").selectAll().executeTakeFirstOrThrow();
  const write = async (actorOf: (actor: string) => string, check: (last: Buffer) => Buffer) =>
    await db.transaction().execute(async (tx) => {
      await sql`alter table audit disable trigger audit_append_only`.execute(tx);
      let hash: Buffer = noHash;
      for (const row of rows) {
        const actor = actorOf(row.actor);
        hash = auditHash(hash, { ...row, actor });
        await tx.updateTable("audit").set({ actor, hash }).where("id", "=", row.id).execute();
      }
      await tx
        .updateTable("audit_checks")
        .set({ last_id, last_hash: check(hash) })
        .execute();
      await sql`alter table audit enable trigger audit_append_only`.execute(tx);
    });
  await write(
    () => "cli:ada",
    (last) => last,
  );
  return () =>
    write(
      (actor) => actor,
      () => last_hash,
    );
}
