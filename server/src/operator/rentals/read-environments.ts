import type { EndedReason } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { readAudit } from "../../audit/read-audit.ts";
import type { Db } from "../../database/database.ts";
import { samplesOf } from "../../environments/activity/samples.ts";
import { launchStagesOf } from "../../environments/api/environment-detail.ts";

export interface EnvironmentSummary {
  readonly id: string;
  readonly subdomain: string;
  readonly status: string;
  readonly desired: string;
  readonly container_type: string;
  readonly gpu_count: number;
  readonly host_id: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly requested_at: Date;
  readonly created_at: Date | null;
  readonly expires_at: Date | null;
  readonly banked_seconds: number;
  readonly terminated_at: Date | null;
  readonly ended_reason: EndedReason | null;
  readonly last_error: string | null;
  /** Since a start was refused because the files are not there. */
  readonly files_missing_since: Date | null;
}

interface Filter {
  /** Undefined: all that have not ended. */
  readonly status?: string | undefined;
  readonly host?: string | undefined;
  /** A name, an id of environment or owner, or the owner's address. Undefined: any. */
  readonly text?: string | undefined;
  readonly limit: number;
  /** Id of the last environment of the page before. */
  readonly before?: string | undefined;
}

/** Returns environments, newest first. Never a look inside: no file, no log and no secret. */
export async function readEnvironments(
  db: Db,
  { status, host, text, limit, before }: Filter,
): Promise<readonly EnvironmentSummary[]> {
  const { rows } = await sql<EnvironmentSummary>`
    ${summary}
    where (e.status = ${status ?? null} or (${status === undefined} and e.status <> 'terminated'))
      and (${host === undefined} or e.host_id = ${host ?? null})
      and (${text === undefined} or ${text ?? null} in (e.id, e.subdomain, e.user_id) or lower(p.email) = lower(${text ?? null}))
      and (${before === undefined} or (e.requested_at, e.id) < (select requested_at, id from environments where id = ${before ?? null}))
    order by e.requested_at desc, e.id desc limit ${limit}`.execute(db);
  return rows;
}

const summary = sql`
  select e.id, e.subdomain, e.status, e.desired, e.container_type, e.gpu_count, e.host_id, e.user_id, p.email, e.requested_at,
    e.created_at, e.expires_at, e.banked_seconds, e.terminated_at, e.ended_reason, e.last_error,
    h.missing_since as files_missing_since
  from environments e left join profiles p on p.user_id = e.user_id
    left join homes h on h.home = e.home and h.host_id = e.host_id`;

/**
 * Returns one environment, by its id or its name, with its GPUs, starts and acts. Of several with that name it is the one
 * that has not ended, else the newest. Throws for none.
 */
export async function showEnvironment(db: Db, idOrName: string) {
  const { rows } = await sql<EnvironmentSummary>`
    ${summary} where ${idOrName} in (e.id, e.subdomain)
    order by e.id = ${idOrName} desc, e.status <> 'terminated' desc, e.requested_at desc limit 1`.execute(db);
  const [found] = rows;
  if (!found)
    throw new AppError(
      "not_found",
      `There is no environment ${idOrName}, and no ended one; environments names those that have not ended`,
    );
  const [gpus, stages, sessions, orders, acts, samples, restarts] = await Promise.all([
    db
      .selectFrom("gpu_leases")
      .select("gpu_id")
      .where("holder_kind", "=", "environment")
      .where("holder_id", "=", found.id)
      .where("released_at", "is", null)
      .orderBy("gpu_id")
      .execute(),
    launchStagesOf(db, [found.id]).then((stages) => stages.get(found.id) ?? []),
    db
      .selectFrom("sessions")
      .select(["id", "opened_at", "closed_at", "reason"])
      .where("environment_id", "=", found.id)
      .orderBy("opened_at", "desc")
      .limit(20)
      .execute(),
    db
      .selectFrom("orders")
      .select(["id", "status", "duration_hours", "gateway"])
      .where(({ or, eb, selectFrom }) =>
        or([
          eb("extends", "=", found.id),
          eb("id", "=", selectFrom("environments").select("order_id").where("id", "=", found.id)),
        ]),
      )
      .orderBy("created_at")
      .execute(),
    readAudit(db, { subject: found.id, limit: 20 }),
    samplesOf(db, found.id, "1h"),
    readRestarts(db, found.id),
  ]);
  const audit = acts.map(({ hash, ...act }) => act);
  const usage = samples.points.at(-1) ?? null;
  return { ...found, gpus: gpus.map(({ gpu_id }) => gpu_id), usage, stages, orders, sessions, restarts, audit };
}

/** What the owner was told of runs that ended by no act of theirs, newest first (G199, G350). */
async function readRestarts(db: Db, id: string) {
  return await db
    .selectFrom("notifications")
    .select(["created_at", "title", "body"])
    .where("cause", "like", `restarted:${id}:%`)
    .orderBy("created_at", "desc")
    .limit(5)
    .execute();
}
