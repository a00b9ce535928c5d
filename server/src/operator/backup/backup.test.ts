import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { openDatabase } from "../../database/database.ts";
import { startEmbedded } from "../../database/embedded/embedded.ts";
import { imageRecord, readCatalogue } from "../../drivers/docker/images/image-catalogue.ts";
import { lastBackup } from "../../installation/last-backup.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { databaseWithoutTables } from "../../testing/server-process.ts";
import { everyRow, testApp } from "../../testing/test-app.ts";
import { operator } from "../testing/run-operator.ts";
import { countRows } from "./dump-database.ts";
import { openArchive } from "./open-archive.ts";
import { restoreBackup } from "./restore-backup.ts";
import { runtimes, setupBackup, trust, whyNoTools } from "./testing/setup-backup.ts";
import { withPlainDatabase } from "./with-plain-database.ts";

const absent = await whyNoTools();
const quiet = () => {};

describe.skipIf(absent)(absent ? `backups, skipped because ${absent}` : "backups", () => {
  test("a restored installation has every row, the secret, and every home file with its mode, time and links", async () => {
    const shop = await testApp();
    const stop = shop.deliver();
    const { environment_id } = await shop.rent(await shop.signUp());
    await stop();
    const { db, dataDir, folder, file, installation, take } = await setupBackup(shop.db);
    const home = join(dataDir, "homes", "home");
    mkdirSync(join(home, "deep", "er"), { recursive: true });
    const odd = "a\\b\nc é.bin";
    const bytes = Buffer.alloc(300_000, environment_id);
    writeFileSync(join(home, "deep", "er", odd), bytes);
    chmodSync(join(home, "deep", "er", odd), 0o741);
    utimesSync(join(home, "deep", "er", odd), 1_000_000_000, 1_000_000_000);
    writeFileSync(join(home, "empty"), "");
    symlinkSync("/etc/hostname", join(home, "absolute"));
    symlinkSync("../../deep/er", join(home, "deep", "up"));
    mkdirSync(join(dataDir, "hosts", "gpu-1"), { recursive: true });
    const record = { jupyter: { digest: "sha256:1" } };
    writeFileSync(join(dataDir, "images.json"), JSON.stringify(record));
    writeFileSync(join(dataDir, "hosts", "gpu-1", "key"), "a key", { mode: 0o600 });
    const before = await everyRow(db);
    const { manifest } = await take();

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(manifest).toMatchObject({
      installation,
      tables: await countRows(db),
      homes: [{ home: "home", files: 2, bytes: 300_000 }],
    });
    const target = join(folder, "restored");
    const config = readConfig({ DATA_DIR: target, RUNTIMES_DIR: runtimes });
    const options = { homesLost: false, trust, progress: quiet };
    const restored = await restoreBackup(config, () => openArchive(file), options);
    expect(restored.broken).toEqual([]);
    expect(restored.notes).toEqual([expect.stringMatching(/^Images: the record of those in use is in place/)]);
    expect(imageRecord(target)).toBe(join(target, "images.json"));
    expect(await readCatalogue(imageRecord(target))).toEqual(record);
    expect(existsSync(join(target, "restored"))).toBe(false);

    const at = (...names: string[]) => join(target, "homes", "home", ...names);
    const sum = (content: Buffer) => createHash("sha256").update(content).digest("hex");
    expect(sum(readFileSync(at("deep", "er", odd)))).toBe(sum(bytes));
    const { mode, mtimeMs } = statSync(at("deep", "er", odd));
    expect([mode & 0o777, mtimeMs]).toEqual([0o741, 1_000_000_000_000]);
    expect(readFileSync(at("empty"), "utf8")).toBe("");
    expect([readlinkSync(at("absolute")), readlinkSync(at("deep", "up"))]).toEqual(["/etc/hostname", "../../deep/er"]);
    expect(lstatSync(at()).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(target, "secret"), "utf8")).toBe("5".repeat(64));
    expect(readFileSync(join(target, "operator-key"), "utf8")).toBe("6".repeat(64));
    expect(readFileSync(join(target, "hosts", "gpu-1", "key"), "utf8")).toBe("a key");
    expect(readFileSync(join(target, "homes", ".installation"), "utf8").trim()).toBe(installation);

    const embedded = await startEmbedded({ directory: join(target, "database"), fsync: false, log: silentLogger });
    try {
      const database = await openDatabase(embedded.connection, silentLogger);
      expect(await everyRow(database.db)).toEqual(before);
      await database.close();
    } finally {
      await embedded.stop();
    }
    await expect(restoreBackup(config, () => openArchive(file), options)).rejects.toThrow(/is not empty \(database, /);
  });

  test("the commands write a file beside the running server, and verify it", async () => {
    const { db, folder, env } = await setupBackup();
    const file = join(folder, "own.tar.gz");
    const made = await operator(["backup", file], env);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/own\.tar\.gz is written: \d+ KiB in .*, no homes\.\n.*unencrypted/);
    expect(await lastBackup(db)).toMatchObject({ place: file, withHomes: false, bytes: statSync(file).size });
    const verified = await operator(["backup", "verify", file], env);
    expect(verified).toMatchObject({ code: 0, stderr: "" });
    expect(verified.stdout).toMatch(/own\.tar\.gz is whole: version \S+, \S+, \d+ rows in \d+ tables, no homes\./);
  });

  test("a backup without homes is restored to an empty database of one's own, and to no other; no file is overwritten", async () => {
    const { db, dataDir, folder, file, env, config, take } = await setupBackup();
    writeFileSync(join(dataDir, "images.json"), "{}");
    const catalogue = { ...config.catalogue, types: config.catalogue.types.slice(0, 1) };
    config.catalogue = catalogue;
    await take(false);
    await expect(take(false)).rejects.toThrow(`${file} exists: name another file, nothing is overwritten.`);
    const DATA_DIR = join(folder, "moved");
    const { url: DATABASE_URL, connection } = await databaseWithoutTables();
    const restore = async (change: Record<string, string>, homesLost = false) => {
      const config = readConfig({ ...env, DATA_DIR, DATABASE_URL, ...change });
      return await restoreBackup(config, () => openArchive(file), { homesLost, trust, progress: quiet });
    };
    await expect(restore({ DATABASE_URL: env.DATABASE_URL })).rejects.toThrow(/DATABASE_URL is not empty \(\w+, /);
    await expect(restore({ IDENTITY_SECRET: "another secret of at least 32 letters" })).rejects.toThrow(
      "IDENTITY_SECRET is not the secret of the backup",
    );
    expect(readdirSync(folder).sort()).toEqual(["backup.tar.gz", "data"]);
    expect(await withPlainDatabase(connection, countRows)).toEqual({});

    const restored = await restore({}, true);
    expect(restored.broken).toEqual([]);
    expect(restored.notes).toEqual([
      expect.stringMatching(/^The homes are lost: /),
      expect.stringMatching(/^Images: /),
      `Prices and types were those of ${DATA_DIR}/restored/catalogue.json: set CATALOGUE to it, or to a copy.`,
    ]);
    expect(JSON.parse(readFileSync(join(DATA_DIR, "restored", "catalogue.json"), "utf8"))).toEqual(catalogue);
    expect(await withPlainDatabase(connection, countRows)).toEqual(await countRows(db));
    expect(readFileSync(join(DATA_DIR, "secret"), "utf8")).toBe("5".repeat(64));
    expect(readdirSync(DATA_DIR).sort()).toEqual(["homes", "images.json", "operator-key", "restored", "secret"]);
  });
});
