import * as z from "zod";
import { version } from "../../config/config.ts";
import { BackupRefused } from "./backup-refused.ts";

/** The last file of an archive, so that one which was cut has none. */
export const manifestName = "manifest.json";
/** The SHA-256 of every other file, in the order of the archive and the format of sha256sum. */
export const sumsName = "SHA256SUMS";
export const dumpName = "database.dump";
/** The installation's secret, or what IDENTITY_SECRET was. */
export const secretName = "secret";
export const homesName = "homes";
/** A folder for each host on another machine, with an archive of each home. */
export const elsewhereName = "restored/homes-elsewhere";

const homeShape = z.strictObject({
  home: z.string(),
  files: z.int(),
  bytes: z.int(),
  unreadable: z.int(),
  /** The first of its entries that cannot be packed, with the reason, and how many there are. */
  leftOut: z.optional(z.strictObject({ count: z.int(), first: z.string() })),
});

const elsewhereShape = z.strictObject({
  host: z.string(),
  home: z.string(),
  bytes: z.nullable(z.int()),
  why: z.optional(z.string()),
});

const manifestShape = z.strictObject({
  format: z.literal(1),
  madeAt: z.iso.datetime(),
  /** Of the product, such as 0.2.0. */
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  installation: z.string(),
  /** The last migration of the database. */
  migration: z.string(),
  postgres: z.string(),
  /** Rows of each table in the dump. */
  tables: z.record(z.string(), z.int().nonnegative()),
  secretFrom: z.enum(["DATA_DIR", "IDENTITY_SECRET"]),
  /** Without it the backup has no homes. */
  homes: z.optional(z.array(homeShape)),
  /** Homes of hosts on other machines, packed; null: it is not in the backup, because the host did not answer, or as `why` says. */
  elsewhere: z.optional(z.array(elsewhereShape)),
  /** SHA-256 of the list of sums. */
  sums: z.string().regex(/^[0-9a-f]{64}$/),
  /** HMAC of all else (backup-signature.ts); earlier versions made none. */
  signature: z.optional(z.string().regex(/^[0-9a-f]{64}$/)),
});

export type Manifest = z.infer<typeof manifestShape>;

/** Throws BackupRefused for text that is not a manifest of this format. */
export function parseManifest(text: string): Manifest {
  try {
    return manifestShape.parse(JSON.parse(text));
  } catch {
    throw new BackupRefused(`Its ${manifestName} is damaged, or of a format that this version does not know.`);
  }
}

/** Throws BackupRefused for a backup of a newer version: its data may mean what this one does not know. */
export function checkVersion(manifest: Manifest, migrations: readonly string[]): void {
  const isNewer = manifest.version.localeCompare(version, "en", { numeric: true }) > 0;
  if (!isNewer && migrations.includes(manifest.migration)) return;
  throw new BackupRefused(
    `The backup is of version ${manifest.version} (${manifest.migration}), and this is ${version}: restore it with that version or a later one.`,
  );
}
