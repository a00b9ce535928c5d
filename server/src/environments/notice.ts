import type { Tx } from "../database/database.ts";
import type { NoticeCause } from "../mail/mail-flag.ts";
import { formatInstant } from "../text/format-instant.ts";

export interface Notice {
  readonly userId: string;
  /** What it is about: asked for twice, it is told once. */
  readonly cause: NoticeCause;
  readonly title: string;
  readonly body: string;
  /** A path of the app. */
  readonly link: string | null;
}

/** Idempotent by user and cause. */
export type Announce = (tx: Tx, notice: Notice) => Promise<void>;

/** "Nov 20, 2026, 2:52 PM UTC": a notice is also a mail, which knows no viewer's zone. */
export function instant(at: Date): string {
  return `${formatInstant(at)} UTC`;
}
