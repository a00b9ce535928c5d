import { sql } from "kysely";
import type { Tx } from "../database/database.ts";
import { resetNotice } from "./notices.ts";

/** A clock that stands still (G24) banks what is added; one that runs ends later. Neither touches the run itself. */
const later = (hours: number) => sql`
  expires_at = expires_at + make_interval(hours => ${hours}),
  banked_seconds = case when expires_at is null then banked_seconds + ${hours * 3600} else banked_seconds end`;

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

/** The hours were paid back: it ends that much earlier, now at the earliest. */
export async function shorten(tx: Tx, id: string, hours: number): Promise<void> {
  await sql`
    update environments set
      expires_at = greatest(now(), expires_at - make_interval(secs => ${hours * 3600})),
      banked_seconds = case when expires_at is null then greatest(0, banked_seconds - ${Math.floor(hours * 3600)}) else banked_seconds end,
      due_at = now()
    where id = ${id} and status <> 'terminated'`.execute(tx);
}
