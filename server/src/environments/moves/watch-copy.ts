import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { DriverError } from "../../drivers/driver.ts";
import { type Logger, logError } from "../../logging/create-logger.ts";
import type { Attempt } from "./move-queue.ts";

const intervalMs = 1000;
/** Counting and writing to the disk at the end of a large home send nothing either. */
const stalledMs = 10 * 60_000;

/** The move was taken back by an operator, or another worker has its row. */
export class MoveOvertaken extends Error {}

export interface CopyWatch {
  /** Aborted when the copy is to end. */
  readonly signal: AbortSignal;
  onTotal(bytes: number): void;
  onBytes(bytes: number): void;
  stop(): void;
}

/** Writes every second how far a copy is, and ends one that was taken back, lost its lease or stands still. */
export function watchCopy(
  { db, log, stopping }: { readonly db: Db; readonly log: Logger; readonly stopping: AbortSignal },
  { id, lease_token: lease }: Attempt,
): CopyWatch {
  const ending = new AbortController();
  const copy = { total: 0, copied: 0, written: -1, atMs: performance.now() };

  async function write(): Promise<void> {
    if (performance.now() - copy.atMs > stalledMs)
      return ending.abort(new DriverError("unavailable", "no byte was copied for ten minutes"));
    const copied = Math.min(copy.total, copy.copied);
    const { rows } = await sql<{ cancelled: boolean }>`
      update home_moves set copied_bytes = ${copied}, total_bytes = ${copy.total}
      where id = ${id} and lease_token = ${lease} returning cancelled_at is not null as cancelled`.execute(db);
    if (rows[0]?.cancelled !== false) ending.abort(new MoveOvertaken());
  }

  const timer = setInterval(() => void write().catch(logError(log, "home.progress_not_written")), intervalMs);
  const advance = () => {
    copy.atMs = performance.now();
  };
  return {
    signal: AbortSignal.any([stopping, ending.signal]),
    onTotal(bytes) {
      copy.total = bytes;
      advance();
    },
    onBytes(bytes) {
      copy.copied += bytes;
      advance();
    },
    stop: () => clearInterval(timer),
  };
}
