import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { finish, withoutLease } from "../../database/work-queue.ts";
import { DriverError } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";
import { leaseGpus, leasesOf, type Place, releaseLeases } from "../leases/gpu-leases.ts";
import type { Announce } from "../notice.ts";
import { type Attempt, moveQueue } from "./move-queue.ts";
import { MoveOvertaken } from "./watch-copy.ts";

/**
 * Points a home and its environments, ended ones too, at the host where the files are now. From then on only the former
 * files are left to delete. Environments are locked first (docs/internals/locking.md); a pass of the reconciler that has
 * one loses its lease.
 */
export async function switchHome(
  { db, announce }: { readonly db: Db; readonly announce: Announce },
  move: Attempt,
  node: string | null,
): Promise<void> {
  const { id, user_id: userId, from_host, from_home, to_host, to_home } = move;
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Environment>`
      select * from environments where home = ${from_home} and host_id = ${from_host} order by id for update`.execute(
      tx,
    );
    const live = rows.find(({ status }) => status !== "terminated");
    if (live && live.status !== "stopped") throw new DriverError("refused", `${live.subdomain} is ${live.status}`);
    if (live) await leaseElsewhere(tx, live, { hostId: to_host, node });
    await sql`
      update environments set host_id = ${to_host}, home = ${to_home}, faulty_generation = null, ${withoutLease},
        due_at = now()
      where home = ${from_home} and host_id = ${from_host}`.execute(tx);
    await sql`
      update homes set host_id = ${to_host}, home = ${to_home}, node = ${node}, missing_since = null
      where id = ${id}`.execute(tx);
    const done = { moved_at: sql<Date>`now()`, due_at: sql<Date>`now()`, attempts: 0, last_error: null };
    if (!(await finish(tx, moveQueue, move, done, sql`cancelled_at is null`))) throw new MoveOvertaken();
    if (!live || live.desired === "terminated") return;
    await announce(tx, {
      userId,
      cause: `moved:${to_home}`,
      title: `The files of ${live.subdomain} have moved`,
      body: "They are on another machine now, all of them. Its name and its address are the same: start it as always.",
      link: `/environments/${live.id}`,
    });
  });
}

/** A stopped monthly plan keeps its GPUs (G24): as many of the other host instead. */
async function leaseElsewhere(tx: Tx, { id, gpu_count: gpuCount }: Environment, place: Place): Promise<void> {
  if ((await leasesOf(tx, "environment", id)).length === 0) return;
  await releaseLeases(tx, "environment", id);
  const leased = await leaseGpus(tx, { holderKind: "environment", holderId: id, gpuCount, place, holdUntil: null });
  if (!leased) throw new DriverError("no_gpu", `${place.hostId} no longer has ${gpuCount} free GPUs`);
}
