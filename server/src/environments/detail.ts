import type { environmentDetail, LaunchStage, ReplyOf } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { containerOf, type ListedEnvironment } from "./environments.ts";

type Detail = ReplyOf<typeof environmentDetail>["environment"];

/** What only the owner sees of one environment (G86). */
export async function detailOf(db: Db, row: ListedEnvironment, url: string): Promise<Detail> {
  const [session, payment, host, gpu, stages] = await Promise.all([
    db
      .selectFrom("sessions")
      .where("environment_id", "=", row.id)
      .orderBy("opened_at", "desc")
      .select("id")
      .executeTakeFirst(),
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
  ]);
  return {
    ...containerOf(row),
    id: row.id,
    url,
    jupyter_token: row.status === "terminated" ? null : row.secret,
    session_id: session?.id ?? null,
    payment_reference: payment?.gateway_payment_id ?? null,
    generation: row.generation,
    stages,
    gpu: gpu ? { ...gpu, count: row.gpu_count } : null,
    isolation: (host?.isolation ?? null) as Detail["isolation"],
  };
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
