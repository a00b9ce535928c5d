import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig, version } from "../../config/config.ts";
import { type ArchiveEntry, textEntry } from "../../drivers/homes/pack-archive.ts";
import { archiveBytes } from "./archive-bytes.ts";
import { BackupRefused } from "./backup-refused.ts";
import { signatureOf } from "./backup-signature.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { openArchive } from "./open-archive.ts";
import { restoreBackup } from "./restore-backup.ts";
import { secret, temporaryFolder, trust } from "./testing/setup-backup.ts";
import { writeFile } from "./write-file.ts";

const manifest: Omit<Manifest, "sums"> = {
  ...{ format: 1, madeAt: new Date().toISOString(), version, installation: "i", migration: "0035_work_queue.sql" },
  ...{ postgres: "18.4", tables: { orders: 1 }, secretFrom: "DATA_DIR", homes: [] },
};

/** Pseudo-random, so that every run damages the same places. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A backup whose dump nobody reads, because it is refused before. */
async function makeBackup(folder: string, change: Partial<Manifest> = {}): Promise<string> {
  const random = seeded(1);
  const lines = Array.from({ length: 3_000 }, (_, row) => `${row}\t${random()}\n`);
  const entries = async function* (): AsyncGenerator<ArchiveEntry> {
    yield textEntry("database.dump", lines.join(""));
    yield textEntry("secret", secret);
  };
  const file = join(folder, "backup.tar.gz");
  const sealed = (sums: string) => {
    const changed = { ...manifest, sums, ...change };
    return { ...changed, signature: signatureOf(secret, changed) };
  };
  await writeFile(file)(archiveBytes(entries(), join(folder, "sums"), sealed), () => {});
  return file;
}

/** Tries to restore, and returns the refusal; the place must be as it was. `later` is what the file is after its check. */
async function refusalOf(file: string, folder: string, later = file): Promise<string> {
  const before = readdirSync(folder);
  const reads = [file, later];
  const config = readConfig({ DATA_DIR: join(folder, "data") });
  const refused = await restoreBackup(config, () => openArchive(reads.shift() ?? later), {
    homesLost: false,
    trust,
    progress: () => {},
  }).then(
    () => "it was restored",
    (error) => (error instanceof BackupRefused ? error.message : `another fault: ${error}`),
  );
  expect(readdirSync(folder), refused).toEqual(before);
  return refused;
}

describe("a hundred backups", () => {
  let folder = "";
  let whole: Buffer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-backup-"));
    whole = readFileSync(await makeBackup(folder));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const seeds = Array.from({ length: 100 }, (_, seed) => seed);
  test.each([
    ["with a flipped bit", (bytes: Buffer, random: () => number) => flip(bytes, random)],
    ["cut short", (bytes: Buffer, random: () => number) => bytes.subarray(0, Math.floor(random() * bytes.length))],
  ] as const)("%s are refused in one sentence, and nothing is changed", async (_, damage) => {
    for (const seed of seeds) {
      const file = join(folder, "damaged.tar.gz");
      writeFileSync(file, damage(Buffer.from(whole), seeded(seed + 7)));
      const refused = await refusalOf(file, folder);
      expect(refused, `seed ${seed}`).toMatch(/damaged|cut short|no backup|not a backup/);
      expect(refused).not.toMatch(/\n|another fault/);
    }
  });
});

function flip(bytes: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  return bytes;
}

test("another file, another format, a newer version and a newer migration are refused", async () => {
  const folder = temporaryFolder();
  const other = join(folder, "other");
  writeFileSync(other, "a text");
  expect(await refusalOf(other, folder)).toContain("not a backup of this product");
  writeFileSync(other, gzipSync("no tar", { level: 3 }));
  expect(await refusalOf(other, folder)).toMatch(/damaged|no manifest/);
  expect(await refusalOf(join(folder, "missing"), folder)).toContain("cannot be read (ENOENT)");
  const newer = { version: "99.0.0" };
  expect(await refusalOf(await makeBackup(temporaryFolder(), newer), folder)).toContain(
    "The backup is of version 99.0.0",
  );
  const migrated = { migration: "9999_later.sql" };
  expect(await refusalOf(await makeBackup(temporaryFolder(), migrated), folder)).toContain("9999_later.sql");
  const format = { format: 2 } as object;
  expect(await refusalOf(await makeBackup(temporaryFolder(), format), folder)).toContain("a format that this version");
});

test("a file that is not in the sums is refused, with all else whole", async () => {
  const folder = temporaryFolder();
  const file = await makeBackup(folder, { sums: "0".repeat(64) });
  expect(await refusalOf(file, folder)).toContain("not those of its manifest");
  expect(() => parseManifest("{}")).toThrow(BackupRefused);
});

test("G311 a backup that is replaced by another one after its check is refused", async () => {
  const folder = temporaryFolder();
  const later = await makeBackup(temporaryFolder(), { madeAt: "2026-11-24T02:00:00.000Z" });
  expect(await refusalOf(await makeBackup(folder), folder, later)).toBe(
    "The backup changed while it was read: try again.",
  );
});

test("a folder that is not empty is refused", async () => {
  const folder = temporaryFolder();
  const file = await makeBackup(folder);
  writeFileSync(join(folder, "data"), "");
  const config = readConfig({ DATA_DIR: folder });
  const restored = restoreBackup(config, () => openArchive(file), { homesLost: false, trust, progress: () => {} });
  await expect(restored).rejects.toThrow(/is not empty \(backup\.tar\.gz, data, sums\): move it away/);
});
