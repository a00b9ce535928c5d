import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { withoutLease } from "../../database/work-queue.ts";
import { leaveMachine } from "../allocation/leave-machine.ts";
import type { Environment } from "../environment.ts";
import { openHome } from "../homes/home-records.ts";
import { shortageText } from "../leases/free-times.ts";
import { lockOwned, type Owned, refusal } from "../lock-owned.ts";
import { runIdOf } from "../run-id.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";
import { creditFault } from "../time/rental-clock.ts";

/**
 * Gives an environment whose machine gives no sign an empty home on another machine; name, address, packages of its type and
 * the time left stay (G202). Its GPUs are leased at once, or nothing changes (`out_of_stock`). Its run and files stay where
 * they are: the run is ended when the machine is back, and the files are kept (G203). Idempotent (G25).
 */
export async function startFresh(db: Db, owned: Owned): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await lockOwned(tx, owned);
    if (row.status === "pending" && row.run_id !== null) return;
    if (row.desired === "terminated" || !(await isMachineAway(tx, row))) throw refusal(row, "fresh");
    const host_id = (await leaveMachine(tx, row)) ?? (await outOfStock(tx, row));
    await leaveHome(tx, row);
    await creditFault(tx, row);
    const home = newId();
    await openHome(tx, { home, host_id, user_id: row.user_id, subdomain: row.subdomain });
    await sql`
      update environments
      set host_id = ${host_id}, home = ${home}, run_id = ${newId()}, desired = 'running', status = 'pending',
        stage = 'placed', stage_percent = null, endpoint = null, run_token = null, warm = false, stop_reason = null,
        faulty_generation = null, without_settings = false, lost_since = null, fault_since = now(), down_since = now(),
        give_up_at = now() + make_interval(mins => ${maxDownMinutes}), ${withoutLease}, attempts = 0, last_error = null,
        due_at = now()
      where id = ${row.id}`.execute(tx);
  });
}

/** The condition of `may_start_fresh` too: for an environment `e` on a host `h`. */
export const mayStartFresh = sql<boolean>`(e.status = 'unknown' and e.desired <> 'terminated' and e.created_at is not null
  and (e.lost_since is not null or h.away_since is not null))`;

async function isMachineAway(tx: Tx, { id }: Environment): Promise<boolean> {
  const { rows } = await sql`
    select from environments e join hosts h on h.id = e.host_id where e.id = ${id} and ${mayStartFresh}`.execute(tx);
  return rows.length > 0;
}

async function outOfStock(tx: Tx, { order_id: orderId, gpu_count: gpuCount }: Environment): Promise<never> {
  throw new AppError("out_of_stock", `${await shortageText(tx, gpuCount, null, orderId)}. Nothing has changed`);
}

/** Nobody's current files from now on; without an end until the run has ended that may still write them. */
async function leaveHome(tx: Tx, row: Environment): Promise<void> {
  await sql`
    update homes set left_by = ${row.id}, left_run = ${runIdOf(row)}, delete_at = null, told_at = null
    where home = ${row.home} and host_id = ${row.host_id}`.execute(tx);
}
