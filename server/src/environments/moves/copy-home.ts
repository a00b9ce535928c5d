import { once } from "node:events";
import { createGunzip } from "node:zlib";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import { unpackable } from "../../drivers/homes/pack-limits.ts";
import { runLimits } from "../leases/run-limits.ts";

interface Copy {
  readonly source: Driver;
  readonly target: Driver;
  readonly from: string;
  readonly to: string;
  /** The machine of a cluster that is to have it; undefined: any. */
  readonly node?: string | undefined;
  /** The bytes of all files, before the first is copied. */
  readonly onTotal: (bytes: number) => void;
  /** Bytes that were handed to the target, as they are unpacked. */
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Copies a home that nobody uses from one host to another, without a copy in between, and counts it there. Throws
 * `no_home` when it is missing, `refused` when something in it cannot be copied as it is or did not arrive.
 */
export async function copyHome({ source, target, from, to, node, onTotal, onBytes, signal }: Copy): Promise<void> {
  const sent = await source.countHome(from, signal);
  if (!sent) throw new DriverError("no_home", "the files are missing");
  const fault = await unpackable(sent, () => source.homeMb(from));
  if (fault) throw new DriverError("refused", fault);
  onTotal(sent.bytes);
  const { limits } = runLimits([]);
  await target.restore({ home: to, limits, node }, metered(source.archive(from, signal), onBytes), signal);
  const arrived = await target.countHome(to, signal);
  if (arrived?.entries !== sent.entries || arrived.bytes !== sent.bytes)
    throw new DriverError(
      "refused",
      `of ${sent.entries} entries with ${sent.bytes} bytes, ${arrived?.entries ?? 0} with ${arrived?.bytes ?? 0} arrived`,
    );
}

/** The archive as it is, unpacked beside it to know how much of the home it is. */
async function* metered(
  archive: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  gunzip.on("data", ({ length }: Buffer) => onBytes(length));
  // A write after it throws too.
  gunzip.on("error", () => {});
  try {
    for await (const piece of archive) {
      if (!gunzip.write(piece)) await once(gunzip, "drain");
      yield piece;
    }
  } finally {
    gunzip.destroy();
  }
}
