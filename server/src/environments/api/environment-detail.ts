import { type environmentDetail, type LaunchStage, major, type ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import { batch } from "../../async/batch.ts";
import type { Db, RowOf } from "../../database/database.ts";
import { doneNoticeOf } from "../activity/done-notice.ts";
import { idleStopOn } from "../activity/idle-stop.ts";
import { byEnvironment } from "../by-environment.ts";
import { containerOf, type ListedEnvironment } from "../environment.ts";
import { bookedHours, paidSums } from "./booked.ts";
import { shareLinksOf } from "./share-links.ts";
import { mayStartFresh } from "./start-fresh.ts";

type Detail = ReplyOf<typeof environmentDetail>["environment"];

const mostSessions = 10;

/** Reads environments as their owners see them (G86), batched: concurrent calls share one set of queries. */
export function detailReader(
  db: Db,
  environmentUrl: (subdomain: string) => string,
): (row: ListedEnvironment) => Promise<Detail> {
  return batch(async (rows: readonly ListedEnvironment[]) => {
    const ids = [...new Set(rows.map(({ id }) => id))];
    const [sessions, facts, stages, shares] = await Promise.all([
      sessionsOf(db, ids),
      factsOf(db, ids),
      launchStagesOf(db, ids),
      shareLinksOf(db, ids),
    ]);
    return rows.map((row) =>
      detailOf(row, {
        url: environmentUrl(row.subdomain),
        sessions: sessions.get(row.id) ?? [],
        facts: facts.get(row.id),
        stages: stages.get(row.id) ?? [],
        shares: shares.get(row.id) ?? [],
      }),
    );
  });
}

type Parts = Pick<Detail, "url" | "sessions" | "stages" | "shares"> & { readonly facts: Facts | undefined };

function detailOf(row: ListedEnvironment, { url, sessions, facts, stages, shares }: Parts): Detail {
  const hasEnded = row.status === "terminated";
  return {
    ...containerOf(row),
    id: row.id,
    url,
    jupyter_token: hasEnded ? null : row.secret,
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
    shares: hasEnded ? [] : shares,
    idle_stop: idleStopOn(row, facts?.last_busy_at ?? null),
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

/** By environment, the newest first. */
async function sessionsOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Detail["sessions"]>> {
  const { rows } = await sql<RowOf<"sessions">>`
    select s.* from unnest(${[...ids]}::text[]) as asked (id) cross join lateral (
      select * from sessions where environment_id = asked.id order by opened_at desc, id limit ${mostSessions}) s
    order by s.opened_at desc, s.id`.execute(db);
  return byEnvironment(rows, ({ id, opened_at, closed_at, reason }) => {
    return { id, reason, opened_at: opened_at.toISOString(), closed_at: closed_at?.toISOString() ?? null };
  });
}

interface Facts {
  readonly id: string;
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
  readonly last_busy_at: Date | null;
}

/** Facts from one row each of other tables, in one query. */
async function factsOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Facts>> {
  const { rows } = await sql<Facts>`
    select e.id, h.isolation, ${mayStartFresh} as may_start_fresh, g.model, g.memory_mb, a.last_busy_at,
      (select gateway_payment_id from payments where order_id = e.order_id and settles_order) as payment_reference,
      array(select r.number from receipts r join payments p on p.id = r.payment_id join orders o on o.id = p.order_id
        where p.settles_order and (o.id = e.order_id or o.extends = e.id) order by r.issued_at, r.number) as receipts,
      ${bookedHours} as booked_hours, ${paidSums} as paid,
      (select coalesce(size_mb, (select home_mb from samples where environment_id = e.id and span_seconds = 600
          order by at desc limit 1))
        from homes where home = e.home and host_id = e.host_id) as home_mb
    from environments e join hosts h on h.id = e.host_id
    left join lateral (select model, memory_mb from gpus where host_id = h.id and kind = 'gpu' limit 1) g on true
    left join activity a on a.environment_id = e.id
    where e.id = any(${[...ids]})`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The stages of the newest start of each. */
export async function launchStagesOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Detail["stages"]>> {
  const { rows } = await sql<{ environment_id: string; stage: LaunchStage; at: Date }>`
    select environment_id, stage, at from launch_stages l
    where environment_id = any(${[...ids]})
      and generation = (select max(generation) from launch_stages where environment_id = l.environment_id)
    order by array_position(
      array['ordered', 'paid', 'placed', 'image', 'created', 'started', 'answering', 'ready'], stage)`.execute(db);
  return byEnvironment(rows, ({ stage, at }) => ({ stage, at: at.toISOString() }));
}
