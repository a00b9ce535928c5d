import type { Container } from "@berth/contract";
import { type RawBuilder, sql } from "kysely";
import { batch } from "../async/batch.ts";
import type { RowOf, Sql } from "../database/database.ts";
import { movePercent } from "./move-percent.ts";

export type Environment = RowOf<"environments">;

/** An environment with the end of the retention of its files (G31). */
export interface ListedEnvironment extends Environment {
  readonly files_until: Date | null;
  /** Whether its host can freeze it. */
  readonly can_pause: boolean;
  /** How far its files have moved to another host; null while they stay. */
  readonly moving_percent: number | null;
}

/** All environments of these users, newest first. */
export async function listEnvironments(db: Sql, userIds: readonly string[]): Promise<readonly ListedEnvironment[]> {
  return await listed(db, sql`e.user_id = any(${[...userIds]})`);
}

/** Reads environments by id for their users, batched: concurrent calls share one query. */
export function environmentReader(db: Sql): (asked: Asked) => Promise<ListedEnvironment | undefined> {
  return batch(async (all: readonly Asked[]) => {
    const ids = [...new Set(all.map(({ id }) => id))].filter(isEnvironmentId);
    const rows = await listed(db, sql`e.id = any(${ids})`);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return all.map(({ id, userId }) => (byId.get(id)?.user_id === userId ? byId.get(id) : undefined));
  });
}

interface Asked {
  readonly id: string;
  readonly userId: string;
}

/** One environment of this user; undefined for another user's, as for none. */
export async function environmentOf(db: Sql, id: string, userId: string): Promise<ListedEnvironment | undefined> {
  if (!isEnvironmentId(id)) return undefined;
  return (await listed(db, sql`e.id = ${id} and e.user_id = ${userId}`))[0];
}

/** The database refuses some texts, so only this shape reaches it. */
export function isEnvironmentId(id: string): boolean {
  return /^[0-9a-z]{25}$/.test(id);
}

/** The end moves on while the machine is lost (G181); it is written once it is back. */
export const endNow: RawBuilder<Date | null> = sql`case when e.lost_since is null or e.fault_since is null then e.expires_at
  else e.expires_at + (now() - e.fault_since) end`;

const isMissing = sql`exists (select from homes where home = e.home and host_id = e.host_id and missing_since is not null)`;

async function listed(db: Sql, condition: ReturnType<typeof sql>): Promise<readonly ListedEnvironment[]> {
  const { rows } = await sql<ListedEnvironment>`
    select e.*, case when e.status = 'terminated' and not ${isMissing} then c.retained_until end as files_until, h.pause as can_pause,
      ${endNow} as expires_at, ${movePercent} as moving_percent
    from environments e join hosts h on h.id = e.host_id left join subdomain_claims c on c.name = e.subdomain and c.user_id = e.user_id
    where ${condition} order by e.requested_at desc, e.id`.execute(db);
  return rows;
}

/** A row on the wire (spec 3.2). Before JupyterLab was ready, `created_at` is the time of payment (G28). */
export function containerOf(row: ListedEnvironment): Container {
  const { status, stage } = row;
  return {
    type: row.container_type as Container["type"],
    status,
    subdomain: row.subdomain,
    gpu_count: row.gpu_count,
    duration_hours: row.duration_hours,
    created_at: (row.created_at ?? row.requested_at).toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    banked_seconds: row.banked_seconds,
    stage: status === "pending" ? (stage as Container["stage"]) : null,
    stage_percent: status === "pending" ? row.stage_percent : null,
    waits_for: status === "pending" || (status === "terminated" && row.created_at === null) ? row.waits_for : null,
    ended_reason: row.ended_reason,
    files_until: row.files_until?.toISOString() ?? null,
    can_pause: row.can_pause,
    moving_percent: row.moving_percent,
  };
}
