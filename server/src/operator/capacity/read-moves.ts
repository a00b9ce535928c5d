import { plural } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { formatInstant } from "../../text/format-instant.ts";

interface Staying {
  readonly subdomain: string;
  readonly status: string;
  readonly expires_at: Date | null;
}

/** What a host that is emptied has: homes at rest, which move now, and environments that keep theirs for the time being. */
export async function readMoves(db: Db, hostId: string) {
  const { rows: staying } = await sql<Staying>`
    select subdomain, status, expires_at from environments
    where host_id = ${hostId} and status not in ('stopped', 'terminated') order by expires_at nulls last, subdomain`.execute(
    db,
  );
  const { rows: moving } = await sql<{ stopped: number; kept: number }>`
    select count(*) filter (where status = 'stopped')::int as stopped, count(*) filter (where status is null)::int as kept
    from (
      select (select status from environments e
        where e.home = h.home and e.host_id = h.host_id and status <> 'terminated') as status
      from homes h where host_id = ${hostId} and (delete_at is null or delete_at > now())) homes`.execute(db);
  return { staying, stopped: moving[0]?.stopped ?? 0, kept: moving[0]?.kept ?? 0 };
}

/** The same as sentences. */
export function movesText({ staying, stopped, kept }: Awaited<ReturnType<typeof readMoves>>): string {
  const moving = `To move now: ${plural(stopped, "stopped environment")}, and the kept files of ${kept} that have ended.`;
  if (staying.length === 0) return `${moving} Nothing runs there.`;
  return `${moving} These follow when they are stopped or have ended: ${staying.map(stayingText).join(", ")}.`;
}

function stayingText({ subdomain, status, expires_at: end }: Staying): string {
  return `${subdomain} (${status}${end ? ` until ${formatInstant(end)} UTC` : ""})`;
}
