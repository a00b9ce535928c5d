import { type environmentDetail, type LaunchStage, major, type ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import type { Db, RowOf } from "../../database/database.ts";
import { doneNoticeOf } from "../activity/done-notice.ts";
import { idleStopOf } from "../activity/idle-stop.ts";
import { containerOf, type ListedEnvironment } from "../environment.ts";
import { bookedHours, paidSums } from "./booked.ts";
import { shareLinksOf } from "./share-links.ts";
import { mayStartFresh } from "./start-fresh.ts";

type Detail = ReplyOf<typeof environmentDetail>["environment"];

const mostSessions = 10;

/** One environment as its owner sees it (G86). */
export async function environmentDetailOf(db: Db, row: ListedEnvironment, url: string): Promise<Detail> {
  const [sessions, facts, stages, shares, idle_stop] = await Promise.all([
    sessionsOf(db, row.id),
    factsOf(db, row),
    launchStagesOf(db, row.id),
    row.status === "terminated" ? [] : shareLinksOf(db, row.id),
    idleStopOf(db, row.id),
  ]);
  return {
    ...containerOf(row),
    id: row.id,
    url,
    jupyter_token: row.status === "terminated" ? null : row.secret,
    session_id: sessions[0]?.id ?? null,
    sessions,
    order_id: row.order_id,
    ...(facts && {
      booked: {
        hours: facts.booked_hours,
        paid: facts.paid.map(({ currency, minor }) => ({ currency, amount: major(minor) })),
      },
    }),
    receipts: facts?.receipts ?? [],
    home_mb: facts?.home_mb ?? null,
    payment_reference: facts?.payment_reference ?? null,
    shares,
    idle_stop,
    done_notice: doneNoticeOf(row),
    stop_reason: row.status === "stopped" ? row.stop_reason : null,
    lost_since: row.lost_since?.toISOString() ?? null,
    may_start_fresh: facts?.may_start_fresh ?? false,
    generation: row.generation,
    stages,
    gpu: facts?.model ? { model: facts.model, memory_mb: facts.memory_mb, count: row.gpu_count } : null,
    isolation: facts?.isolation ?? null,
  };
}

/** The newest first. */
async function sessionsOf(db: Db, id: string): Promise<Detail["sessions"]> {
  const { rows } = await sql<RowOf<"sessions">>`
    select * from sessions where environment_id = ${id} order by opened_at desc, id limit ${mostSessions}`.execute(db);
  return rows.map(({ id, opened_at, closed_at, reason }) => {
    return { id, reason, opened_at: opened_at.toISOString(), closed_at: closed_at?.toISOString() ?? null };
  });
}

interface Facts {
  readonly isolation: Detail["isolation"];
  readonly may_start_fresh: boolean;
  /** The model of the host's GPUs; null where it has none. */
  readonly model: string | null;
  readonly memory_mb: number;
  /** For quoting only: the payment itself is not read here. */
  readonly payment_reference: string | null;
  readonly receipts: string[];
  readonly booked_hours: number;
  /** By currency, less what went back. */
  readonly paid: readonly { readonly currency: string; readonly minor: number }[];
  /** The last sample of a run, or the size that was measured when the files came to rest. */
  readonly home_mb: number | null;
}

/** Facts from one row each of other tables, in one query. */
async function factsOf(db: Db, { id, order_id, home, host_id }: ListedEnvironment): Promise<Facts | undefined> {
  const { rows } = await sql<Facts>`
    select h.isolation, ${mayStartFresh} as may_start_fresh, g.model, g.memory_mb,
      (select gateway_payment_id from payments where order_id = ${order_id} and settles_order) as payment_reference,
      array(select r.number from receipts r join payments p on p.id = r.payment_id join orders o on o.id = p.order_id
        where p.settles_order and (o.id = ${order_id} or o.extends = ${id}) order by r.issued_at, r.number) as receipts,
      ${bookedHours} as booked_hours, ${paidSums} as paid,
      (select coalesce(size_mb, (select home_mb from samples where environment_id = ${id} and span_seconds = 600
          order by at desc limit 1))
        from homes where home = ${home} and host_id = ${host_id}) as home_mb
    from environments e join hosts h on h.id = e.host_id
    left join lateral (select model, memory_mb from gpus where host_id = h.id and kind = 'gpu' limit 1) g on true
    where e.id = ${id}`.execute(db);
  return rows[0];
}

/** The stages of the newest start. */
export async function launchStagesOf(db: Db, id: string): Promise<Detail["stages"]> {
  const { rows } = await sql<{ stage: LaunchStage; at: Date }>`
    select stage, at from launch_stages
    where environment_id = ${id} and generation = (select max(generation) from launch_stages where environment_id = ${id})
    order by array_position(
      array['ordered', 'paid', 'placed', 'image', 'created', 'started', 'answering', 'ready'], stage)`.execute(db);
  return rows.map(({ stage, at }) => ({ stage, at: at.toISOString() }));
}
