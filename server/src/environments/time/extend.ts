import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { withoutLease } from "../../database/work-queue.ts";
import type { Environment } from "../environment.ts";
import { resetNotice } from "./expiry-notices.ts";

/**
 * A stopped clock (G24) banks the hours, a running one ends later. Neither touches the run. A worker that is about to
 * start the clock with the old banked time is overtaken.
 */
const later = (hours: number) => sql`
  expires_at = expires_at + make_interval(hours => ${hours}),
  banked_seconds = case when expires_at is null then banked_seconds + ${hours * 3600} else banked_seconds end,
  lease_token = case when expires_at is not null then lease_token end,
  lease_expires_at = case when expires_at is not null then lease_expires_at end,
  due_at = case when expires_at is null then now() else due_at end`;

/** Adds paid hours (G100). False when the environment has ended or is ending: then the money goes back. */
export async function extend(tx: Tx, id: string, hours: number): Promise<boolean> {
  const { rows } = await sql`
    update environments set ${later(hours)}
    where id = ${id} and created_at is not null and desired <> 'terminated' and status <> 'terminated'
      and (expires_at > now() or (expires_at is null and banked_seconds > 0)) returning id`.execute(tx);
  if (rows.length === 0) return false;
  await resetNotice(tx, id);
  return true;
}

/** What an environment has after some of its hours were refunded. */
export interface Shortened {
  /** No paid time is left: it ends now. */
  readonly ends: boolean;
  /** Null while its clock stands still. */
  readonly expiresAt: Date | null;
  readonly bankedSeconds: number;
}

/** Less than this is no usable time: amounts are rounded to whole seconds. */
const nothingSeconds = 1;

/**
 * Takes refunded hours off the end, which is now at the earliest. Without paid time left the environment ends, and so
 * does one that was never ready (G108). A worker that is about to write the clock from the old banked time is overtaken.
 * Undefined for one that has ended or is ending, though its paid end moves too.
 */
export async function shorten(tx: Tx, id: string, hours: number): Promise<Shortened | undefined> {
  const {
    rows: [before],
  } = await sql<Environment>`select * from environments where id = ${id} for update`.execute(tx);
  if (!before) return undefined;
  const seconds = hours * 3600;
  const { rows } = await sql<{ expiresAt: Date | null; bankedSeconds: number; left: number }>`
    update environments set
      expires_at = case when expires_at is not null
        then greatest(coalesce(terminated_at, now()), expires_at - make_interval(secs => ${seconds})) end,
      banked_seconds = case when expires_at is null then greatest(0, banked_seconds - ${Math.floor(seconds)}) else banked_seconds end,
      ${withoutLease}, due_at = now()
    where id = ${id}
    returning expires_at as "expiresAt", banked_seconds as "bankedSeconds",
      coalesce(extract(epoch from expires_at - now())::float8, banked_seconds) as left`.execute(tx);
  const [after] = rows;
  if (!after || before.desired === "terminated") return undefined;
  const ends = before.created_at === null || after.left < nothingSeconds;
  if (ends)
    await sql`update environments set desired = 'terminated', ended_reason = 'operator' where id = ${id}`.execute(tx);
  else await resetNotice(tx, id);
  return { ends, expiresAt: after.expiresAt, bankedSeconds: after.bankedSeconds };
}
