import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";
import type { Tables } from "../../database/tables.ts";
import type { Endpoint } from "../../drivers/driver.ts";

/** One environment as the gateway knows it. */
export interface EnvironmentRoute {
  readonly id: string;
  readonly subdomain: string;
  readonly userId: string;
  readonly status: "pending" | "active" | "paused" | "stopped" | "terminated" | "unknown";
  readonly desired: "running" | "paused" | "stopped" | "terminated";
  readonly endpoint: Endpoint | null;
  /** JupyterLab's own token; null where nothing runs. */
  readonly runToken: string | null;
  /** The password of owner and scripts (G95). */
  readonly secret: string;
  readonly expiresAt: Date | null;
  /** The stage in progress while pending. */
  readonly stage: string | null;
  readonly bankedSeconds: number;
  readonly stopReason: Tables["environments"]["stop_reason"];
  readonly endedReason: Tables["environments"]["ended_reason"];
  /** How long the files of an ended one are kept (G31). */
  readonly filesUntil: Date | null;
  readonly gpuCount: number;
  readonly requestedAt: Date;
}

/**
 * One route per subdomain: the live environment, else the last ended one while its files are kept. With an id, the route
 * of that environment's subdomain, which may by now be another environment's.
 */
export async function listRoutes(db: Sql, id?: string): Promise<readonly EnvironmentRoute[]> {
  const { rows } = await sql<EnvironmentRoute>`
    select distinct on (e.subdomain)
      e.id, e.subdomain, e.user_id as "userId", e.status, e.desired, e.endpoint, e.run_token as "runToken", e.secret,
      e.expires_at as "expiresAt", e.stage, e.banked_seconds as "bankedSeconds", e.stop_reason as "stopReason", e.ended_reason as "endedReason",
      case when e.status = 'terminated' then c.retained_until end as "filesUntil",
      e.gpu_count as "gpuCount", e.requested_at as "requestedAt"
    from environments e left join subdomain_claims c on c.name = e.subdomain and c.user_id = e.user_id
    where (e.status <> 'terminated' or c.retained_until > now())
      and (${id ?? null}::text is null or e.subdomain = (select subdomain from environments where id = ${id ?? null}))
    order by e.subdomain, (e.status = 'terminated'), e.requested_at desc`.execute(db);
  return rows;
}
