import type { environmentDetail, LaunchStage, ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { containerOf, type ListedEnvironment } from "./environments.ts";
import { idleStopOf } from "./idle-stop.ts";
import { sharesOf } from "./shares.ts";

type Detail = ReplyOf<typeof environmentDetail>["environment"];

const mostSessions = 10;

/** What only the owner sees of one environment (G86). */
export async function detailOf(db: Db, row: ListedEnvironment, url: string): Promise<Detail> {
  const [sessions, payment, host, gpu, stages, receipts, homeMb, shares, idle_stop] = await Promise.all([
    db
      .selectFrom("sessions")
      .where("environment_id", "=", row.id)
      .orderBy("opened_at", "desc")
      .orderBy("id")
      .limit(mostSessions)
      .select(["id", "opened_at", "closed_at", "reason"])
      .execute(),
    // A reference to be quoted, nothing more: what was paid is not looked at here.
    db
      .selectFrom("payments")
      .where("order_id", "=", row.order_id)
      .where("settles_order", "=", true)
      .select("gateway_payment_id")
      .executeTakeFirst(),
    db.selectFrom("hosts").where("id", "=", row.host_id).select("isolation").executeTakeFirst(),
    db
      .selectFrom("gpus")
      .where("host_id", "=", row.host_id)
      .where("kind", "=", "gpu")
      .select(["model", "memory_mb"])
      .executeTakeFirst(),
    stagesOf(db, row.id),
    receiptsOf(db, row),
    homeMbOf(db, row),
    row.status === "terminated" ? [] : sharesOf(db, row.id),
    idleStopOf(db, row.id),
  ]);
  return {
    ...containerOf(row),
    id: row.id,
    url,
    jupyter_token: row.status === "terminated" ? null : row.secret,
    session_id: sessions[0]?.id ?? null,
    sessions: sessions.map(({ opened_at, closed_at, ...session }) => ({
      ...session,
      opened_at: opened_at.toISOString(),
      closed_at: closed_at?.toISOString() ?? null,
    })),
    order_id: row.order_id,
    receipts,
    home_mb: homeMb,
    payment_reference: payment?.gateway_payment_id ?? null,
    shares,
    idle_stop,
    stop_reason: row.status === "stopped" ? row.stop_reason : null,
    generation: row.generation,
    stages,
    gpu: gpu ? { ...gpu, count: row.gpu_count } : null,
    isolation: (host?.isolation ?? null) as Detail["isolation"],
  };
}

async function receiptsOf(db: Db, { id, order_id }: ListedEnvironment): Promise<string[]> {
  const { rows } = await sql<{ number: string }>`
    select r.number from receipts r join payments p on p.id = r.payment_id join orders o on o.id = p.order_id
    where p.settles_order and (o.id = ${order_id} or o.extends = ${id}) order by r.issued_at, r.number`.execute(db);
  return rows.map(({ number }) => number);
}

/** Of a run what was sampled last; of files at rest what was measured when they came to rest. */
async function homeMbOf(db: Db, { id, home, host_id }: ListedEnvironment): Promise<number | null> {
  const { rows } = await sql<{ size_mb: number | null }>`
    select coalesce(size_mb, (select home_mb from samples where environment_id = ${id} and span_seconds = 600
      order by at desc limit 1)) as size_mb
    from homes where home = ${home} and host_id = ${host_id}`.execute(db);
  return rows[0]?.size_mb ?? null;
}

/** The stages of the newest start. */
async function stagesOf(db: Db, id: string): Promise<Detail["stages"]> {
  const { rows } = await sql<{ stage: LaunchStage; at: Date }>`
    select stage, at from launch_stages
    where environment_id = ${id} and generation = (select max(generation) from launch_stages where environment_id = ${id})
    order by array_position(array['ordered', 'paid', 'placed', 'image', 'created', 'started', 'answering', 'ready'], stage)`.execute(
    db,
  );
  return rows.map(({ stage, at }) => ({ stage, at: at.toISOString() }));
}
