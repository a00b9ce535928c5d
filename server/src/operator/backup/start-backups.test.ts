import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { lastBackup } from "../../installation/last-backup.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { backupFaults } from "../doctor/late-backup.ts";
import { backupWhenDue, checkBackupFolder, startBackups } from "./start-backups.ts";
import { setupBackup, whyNoTools } from "./testing/setup-backup.ts";
import { underBackupLease } from "./under-backup-lease.ts";

const absent = await whyNoTools();

async function setup() {
  const { db, config, folder } = await setupBackup();
  const place = join(folder, "backups");
  mkdirSync(place);
  const { log, lines } = recordLog();
  const schedule = { folder: place, everyHours: 24, keep: 2, withHomes: true };
  const deps = { db, config, schedule, log };
  const names = () => readdirSync(place).sort();
  return { db, place, deps, names, lines, run: () => backupWhenDue(deps) };
}

const later = (hours: number) => sql`update backups set started_at = started_at - make_interval(hours => ${hours})`;

describe.skipIf(absent)(absent ? `scheduled backups, skipped because ${absent}` : "scheduled backups", () => {
  test("one is made when it is due, the newest are kept, and nothing else in the folder is touched", async () => {
    const { db, place, names, run } = await setup();
    const old = ["berth-20200101T000000Z.tar.gz", "berth-20200102T000000Z.tar.gz"];
    const others = ["berth-20200103.tar.gz", "letters"];
    const remains = "berth-20200104T000000Z.tar.gz.partial";
    for (const name of [...old, ...others, remains]) writeFileSync(join(place, name), "");
    mkdirSync(join(place, ".berth-backup-abc"));
    expect(await run()).toBe(true);
    const made = names().find((name) => !old.includes(name) && !others.includes(name));
    expect(names()).toEqual([...others, old[1], made].sort());
    expect(await lastBackup(db)).toMatchObject({ place: join(place, made ?? ""), withHomes: true });
    await later(23).execute(db);
    expect(await run()).toBe(false);
    // One that the operator makes elsewhere puts none off.
    await sql`update backups set place = '/elsewhere/b.tar.gz'`.execute(db);
    // The next one may have the name of this second too.
    rmSync(join(place, made ?? ""));
    expect(await run()).toBe(true);
  });

  test("while another worker or the operator makes one, none is begun and no failure is reported", async () => {
    const { db, names, lines, run } = await setup();
    const gate = Promise.withResolvers<void>();
    const others = underBackupLease(db, { place: "/elsewhere/b.tar.gz", withHomes: false }, async () => {
      await gate.promise;
      return { place: "/elsewhere/b.tar.gz", bytes: 1 };
    });
    await expect.poll(() => db.selectFrom("backups").select("id").execute()).toHaveLength(1);
    expect([await run(), lines, names()]).toEqual([false, [], []]);
    gate.resolve();
    await others;
    expect(await run()).toBe(true);
    expect(lines).toEqual([expect.objectContaining({ event: "backup.done" })]);
  });

  test("a failure is logged and tried again after ten minutes, and keeps the last success", async () => {
    const { db, deps, lines, run } = await setup();
    expect(await backupFaults(db, undefined)).toEqual([]);
    const missing = { ...deps, schedule: { ...deps.schedule, folder: `${deps.schedule.folder}/missing` } };
    expect(await backupWhenDue(missing)).toBe(false);
    expect(lines).toEqual([expect.objectContaining({ event: "backup.failed" })]);
    expect(await backupWhenDue(missing)).toBe(false);
    expect(await backupFaults(db, undefined)).toEqual([
      expect.stringMatching(/^The last one, to \S+missing\S+, failed \S+ ago: The folder of BACKUP cannot be read/),
    ]);
    await expect(checkBackupFolder(deps.config, missing.schedule)).rejects.toThrow(
      `Nothing can be written to ${missing.schedule.folder}, the folder of BACKUP (ENOENT)`,
    );
    await checkBackupFolder(deps.config, deps.schedule);
    expect(await db.selectFrom("backups").select("error").execute()).toEqual([
      { error: `The folder of BACKUP cannot be read: ${missing.schedule.folder} (ENOENT).` },
    ]);
    await later(1).execute(db);
    mkdirSync(missing.schedule.folder);
    expect(await backupWhenDue(missing)).toBe(true);
    expect(await run()).toBe(false);
    expect(await backupFaults(db, undefined)).toEqual([]);
  });

  test("a stop ends the backup that runs, and nothing of it stays", async () => {
    const { db, place, deps, names } = await setup();
    mkdirSync(join(deps.config.dataDir, "homes", "big"));
    const file = join(deps.config.dataDir, "homes", "big", "file");
    writeFileSync(file, "");
    truncateSync(file, 2 ** 32);
    const loop = startBackups(deps);
    onTestFinished(loop.stop);
    await expect.poll(names).toEqual(expect.arrayContaining([expect.stringMatching(/partial$/)]));
    await loop.stop();
    expect(readdirSync(place)).toEqual([]);
    // It did not fail: doctor is silent, and the next start makes it.
    expect([await backupFaults(db, undefined), await lastBackup(db)]).toEqual([[], undefined]);
    expect(await db.selectFrom("backups").select("id").execute()).toEqual([]);
  });
});
