import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { databaseWithoutTables } from "../../testing/server-process.ts";
import { operator } from "../testing/run-operator.ts";
import { secret, setupBackup, temporaryFolder, whyNoTools } from "./testing/setup-backup.ts";

const absent = await whyNoTools();

describe.skipIf(absent)(absent ? `foreign backups, skipped because ${absent}` : "foreign backups", () => {
  test("G311 a backup is checked with the secret of its installation, of DATA_DIR, IDENTITY_SECRET or a file, and else refused", async () => {
    const { db, folder, file, env, take } = await setupBackup();
    // What a forger would plant: PostgreSQL runs it when the dump is restored. It reads all its input.
    const open = temporaryFolder();
    chmodSync(open, 0o777);
    const mark = join(open, "mark");
    await sql
      .raw(
        `create function planted() returns int language plpgsql as $$ begin
           copy (select 1) to program 'cat > ${mark}'; return 1; end $$;
         create materialized view forged as select planted()`,
      )
      .execute(db);
    expect(existsSync(mark)).toBe(true);
    await take(false);
    rmSync(mark);
    const elsewhere = { RUNTIMES_DIR: env.RUNTIMES_DIR, DATA_DIR: join(folder, "new"), TMPDIR: folder };
    const verify = (change: object, ...options: string[]) =>
      operator(["backup", "verify", file, ...options], { ...elsewhere, ...change });
    const other = join(folder, "other-secret");
    writeFileSync(other, `${"7".repeat(64)}\n`);
    const before = readdirSync(folder);

    expect((await verify({})).stderr).toMatch(
      /^Whether this installation made the backup shows only with its secret: /,
    );
    for (const refused of [
      await verify({ IDENTITY_SECRET: "7".repeat(64) }),
      await verify({ IDENTITY_SECRET: secret }, "--secret", other),
      await operator(["restore", file, "--secret", other], elsewhere),
    ])
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/^The backup is not signed with this secret: [^\n]*--foreign\.\n$/),
      ]);
    expect((await verify({}, "--secret", join(folder, "none"))).stderr).toMatch(/none cannot be read \(ENOENT\)\.\n$/);
    expect([existsSync(mark), readdirSync(folder)]).toEqual([false, before]);

    // Signed, or as the operator says: what came with it may not do what a superuser may.
    for (const run of [await verify({}, "--foreign"), await verify({ DATA_DIR: env.DATA_DIR })])
      expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("permission denied to COPY to or from an")]);
    expect([existsSync(mark), readdirSync(folder)]).toEqual([false, before]);
  });

  test("G311 a foreign backup is not restored by a superuser of DATABASE_URL", async () => {
    const { folder, file, env, take } = await setupBackup();
    await take(false);
    const { url: DATABASE_URL } = await databaseWithoutTables();
    const restored = await operator(["restore", file, "--foreign"], {
      ...env,
      DATABASE_URL,
      DATA_DIR: join(folder, "new"),
    });
    expect([restored.code, restored.stderr]).toEqual([
      1,
      expect.stringMatching(/^The role of DATABASE_URL is a superuser/),
    ]);
  });
});
