import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import type { ArchiveEntry } from "../../drivers/homes/pack-archive.ts";
import { packLimits, unpackable } from "../../drivers/homes/pack-limits.ts";
import { usedHomes } from "../../environments/homes/home-records.ts";
import { fileEntry } from "./archive-bytes.ts";
import { elsewhereName, type Manifest } from "./manifest.ts";

type ElsewhereHome = NonNullable<Manifest["elsewhere"]>[number];

/** A host on another machine, as far as its homes are read. */
export interface Elsewhere {
  readonly host: { readonly id: string };
  readonly driver: Pick<Driver, "archive" | "countHome" | "homeMb">;
}

interface ElsewhereDeps {
  readonly db: Db;
  readonly hosts: readonly Elsewhere[];
  /** A temporary folder with room for the largest home: a tar names sizes first, and a host packs while it sends. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** Every home of other hosts as a tar.gz that its host packs, and after each its summary; one that is not read has no bytes. */
export async function* elsewhereEntries(
  { db, hosts, folder, signal = new AbortController().signal }: ElsewhereDeps,
  summarize: (home: ElsewhereHome) => void,
): AsyncGenerator<ArchiveEntry> {
  const file = join(folder, "home.tar.gz");
  for (const { host, driver } of hosts) {
    let isAway = false;
    for (const home of await usedHomes(db, host.id)) {
      const packed: Packed = isAway ? { bytes: null } : await pack(driver, home, { file, signal });
      // The next home of this host would wait in vain, too.
      isAway = packed.bytes === null && packed.why === undefined;
      if (packed.bytes !== null) yield fileEntry(`${elsewhereName}/${host.id}/${home}.tar.gz`, file);
      await rm(file, { force: true });
      summarize({ host: host.id, home, ...packed });
    }
  }
}

type Packed = Pick<ElsewhereHome, "bytes" | "why">;

async function pack(
  driver: Elsewhere["driver"],
  home: string,
  { file, signal }: { readonly file: string; readonly signal: AbortSignal },
): Promise<Packed> {
  const why = await faultOf(driver, home, signal);
  if (why !== undefined) return { bytes: null, why };
  const timeout = AbortSignal.timeout(packLimits.ms);
  try {
    return { bytes: await download(driver.archive(home, AbortSignal.any([signal, timeout])), file) };
  } catch (error) {
    if (signal.aborted || !timeout.aborted) throw error;
    return { bytes: null, why: `packing it took more than ${packLimits.ms / 3600_000} hours` };
  }
}

/** A host that does not answer, and what cannot be read, show when it packs. */
async function faultOf(driver: Elsewhere["driver"], home: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const count = await driver.countHome(home, signal);
    return count && (await unpackable(count, () => driver.homeMb(home)));
  } catch (error) {
    if (error instanceof DriverError) return undefined;
    throw error;
  }
}

/** Returns its size; null when the host cannot be asked now. */
async function download(archive: AsyncIterable<Uint8Array>, file: string): Promise<number | null> {
  // Opened before the first byte is awaited: a stream that opens it itself may make it after its removal.
  const output = (await open(file, "w", 0o600)).createWriteStream();
  try {
    await pipeline(archive, output);
    return output.bytesWritten;
  } catch (error) {
    if (error instanceof DriverError) return null;
    throw error;
  }
}
