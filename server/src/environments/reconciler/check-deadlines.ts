import { maxSessionHours } from "@berth/contract";
import type { Db } from "../../database/database.ts";
import { keepIdleStop } from "../activity/idle-stop.ts";
import type { Environment } from "../environment.ts";
import type { Announce } from "../notice.ts";
import { announceExpiry, announceRollover, pendingNotice } from "../time/expiry-notices.ts";
import { rollSession } from "../time/run-sessions.ts";

/** More than two machines' clocks differ by. */
const clockSkewSeconds = 300;
/** No session is older than its environment, and a rollover is announced a day before. */
const rolloverMs = (maxSessionHours - 24) * 3_600_000 - clockSkewSeconds * 1000;

/**
 * Announces and does what the time of a running environment asks for. Hardly one of a thousand has anything due, and the
 * row itself shows that without a query; near a threshold the database is asked, because its clock decides.
 */
export async function checkDeadlines(
  { db, announce }: { readonly db: Db; readonly announce: Announce },
  row: Environment,
): Promise<void> {
  const now = Date.now();
  if (mayExpireSoon(row, now)) await announceExpiry(db, announce, row.id);
  if (row.idle_minutes !== null) await keepIdleStop(db, announce, row.id);
  if (row.created_at && now - row.created_at.getTime() < rolloverMs) return;
  await announceRollover(db, announce, row.id);
  await rollSession(db, row.id);
}

function mayExpireSoon({ expires_at: end, notice }: Environment, now: number): boolean {
  return !end || pendingNotice((end.getTime() - now) / 1000 - clockSkewSeconds, notice) !== undefined;
}
