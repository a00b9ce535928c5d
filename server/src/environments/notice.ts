import type { Tx } from "../database/database.ts";
import type { NoticeCause } from "../mail/mail-flag.ts";
import { formatDuration } from "../text/format-duration.ts";
import { formatInstant } from "../text/format-instant.ts";

export interface Notice {
  readonly userId: string;
  /** A second notice with the same cause is dropped. */
  readonly cause: NoticeCause;
  readonly title: string;
  readonly body: string;
  /** A path of the app. */
  readonly link: string | null;
}

/** Idempotent by user and cause. */
export type Announce = (tx: Tx, notice: Notice) => Promise<void>;

/** "Nov 20, 2026, 2:52 PM UTC": a notice is also an email, which does not know the time zone of its reader. */
export function instant(at: Date): string {
  return `${formatInstant(at)} UTC`;
}

/** What a stop does to the time of an environment: banked, or null where the clock runs on (G2). */
export function timeText(bankedSeconds: number | null): string {
  if (bankedSeconds === null) return "Its GPUs stay yours, and the clock of a monthly plan runs on.";
  return `Its clock stands still: ${formatDuration(bankedSeconds)} are kept for the next start.`;
}
