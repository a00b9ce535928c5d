import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../server/src/config/config.ts";
import { BackupRefused } from "../server/src/operator/backup/backup-refused.ts";
import { openArchive } from "../server/src/operator/backup/open-archive.ts";
import { restoreBackup } from "../server/src/operator/backup/restore-backup.ts";
import { type Random, seeded } from "../server/src/testing/random.ts";
import { removeFolder, temporaryFolder } from "../testing/product.ts";

type Damage = (bytes: Buffer, at: number, random: Random) => Buffer;

/** What disks, networks and interrupted copies do. */
const damages: Readonly<Record<string, Damage>> = {
  "a flipped bit": (bytes, at, random) => {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return bytes;
  },
  "a block of zeros": (bytes, at) => bytes.fill(0, at, Math.min(at + 4096, bytes.length)),
  "a missing block": (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 512)]),
  "a missing end": (bytes, at) => bytes.subarray(0, at),
};

export const kindsOfDamage = Object.keys(damages);

/** Bytes of the head of gzip, the last of which says nothing about the content. */
const headBytes = 10;

/**
 * Damages copies of a backup, `count` of each kind. @throws unless each is refused in one sentence, and nothing stays of the
 * try. Returns how many there were.
 */
export async function refuseDamaged(file: string, secret: string, count: number, seed: number): Promise<number> {
  const folder = temporaryFolder();
  const copy = join(folder, "damaged.tar.gz");
  const config = readConfig({ DATA_DIR: join(folder, "data") });
  const random = seeded(seed);
  try {
    for (const [kind, damage] of Object.entries(damages))
      for (let n = 0; n < count; n++) {
        const bytes = readFileSync(file);
        const at = headBytes + Math.floor(random() * (bytes.length - headBytes));
        writeFileSync(copy, damage(bytes, at, random));
        const error = await restoreBackup(config, () => openArchive(copy), {
          homesLost: false,
          trust: { secret },
          progress: () => {},
        }).then(
          () => "it was restored",
          (fault: unknown) => fault,
        );
        assert(error instanceof BackupRefused, `${kind} at ${at} of ${bytes.length}: ${error}`);
        assert(!error.message.includes("\n"), error.message);
        assert.deepEqual(readdirSync(folder), ["damaged.tar.gz"], `${kind} at ${at}: something stays`);
      }
  } finally {
    removeFolder(folder);
  }
  return count * Object.keys(damages).length;
}
