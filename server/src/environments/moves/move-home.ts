import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { backoffMs, finish, finishAndDelete, inMs, keepLease, retryIn } from "../../database/work-queue.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { Announce } from "../notice.ts";
import { chooseHost } from "./choose-host.ts";
import { copyHome } from "./copy-home.ts";
import { type Attempt, type LeasedMove, moveQueue } from "./move-queue.ts";
import { switchHome } from "./switch-home.ts";
import { MoveOvertaken, watchCopy } from "./watch-copy.ts";

export interface MoveDeps {
  readonly db: Db;
  /** By host id. */
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly announce: Announce;
  readonly log: Logger;
  /** Aborted when the server stops: a copy ends, and begins again at the next start. */
  readonly stopping: AbortSignal;
}

/**
 * One pass of a move: the copy and the switch, or the deletion of the former files. Each attempt copies to a name of its
 * own, so whatever a worker that was thought dead still does, it touches no files that anybody uses.
 */
export async function moveHome({ log: common, ...rest }: MoveDeps, row: LeasedMove): Promise<void> {
  const deps = { ...rest, log: common.child({ homeId: row.id, hostId: row.from_host }) };
  const { db, log, stopping } = deps;
  try {
    await keepLease(db, moveQueue, row, log, () => takeStep(deps, row));
  } catch (error) {
    if (stopping.aborted || error instanceof MoveOvertaken)
      return void (await finish(db, moveQueue, row, { due_at: inMs(0) }));
    log.warn({ event: "home.move_failed", err: error });
    const attempts = row.attempts + 1;
    await finish(db, moveQueue, row, { attempts, ...retryIn(backoffMs(attempts), error) });
  }
}

async function takeStep(deps: MoveDeps, row: LeasedMove): Promise<void> {
  const { db, drivers, log } = deps;
  if (row.moved_at) {
    await driverOf(deps, row.from_host).deleteHome(row.from_home);
    await finishAndDelete(db, moveQueue, row);
    return log.info({ event: "home.moved", toHostId: row.to_host, bytes: row.total_bytes }, "files have moved");
  }
  // What a former attempt left. A host that was removed took it along.
  if (row.to_host && row.to_home) await drivers.get(row.to_host)?.deleteHome(row.to_home);
  if (row.cancelled_at || !(await isKept(db, row))) return await finishAndDelete(db, moveQueue, row);
  const place = await chooseHost(db, row, [...drivers.keys()]);
  if (!place) throw new DriverError("unavailable", "No other host has room for it");
  await copyAndSwitch(deps, await beginAttempt(db, row, place.hostId), place.node ?? undefined);
}

/** Files whose retention is over are not moved, but deleted where they are. */
async function isKept(db: Db, { id }: LeasedMove): Promise<boolean> {
  const { rows } = await sql`select from homes where id = ${id} and (delete_at is null or delete_at > now())`.execute(
    db,
  );
  return rows.length > 0;
}

/** Written before the first byte: a later attempt deletes what this one leaves. */
async function beginAttempt(db: Db, row: LeasedMove, to_host: string): Promise<Attempt> {
  const to_home = newId();
  const { rows } = await sql`
    update home_moves set to_host = ${to_host}, to_home = ${to_home}, copied_bytes = 0, total_bytes = 0
    where id = ${row.id} and lease_token = ${row.lease_token} returning id`.execute(db);
  if (rows.length === 0) throw new MoveOvertaken();
  return { ...row, to_host, to_home };
}

async function copyAndSwitch(deps: MoveDeps, attempt: Attempt, node: string | undefined): Promise<void> {
  const target = driverOf(deps, attempt.to_host);
  try {
    await copy(deps, attempt, target, node);
    await switchHome(deps, attempt, (await target.homeNode?.(attempt.to_home)) ?? null);
  } catch (error) {
    // Nobody else deletes a copy whose row has gone on. It was not switched to, and has a name of its own.
    if (error instanceof MoveOvertaken) await target.deleteHome(attempt.to_home).catch(() => {});
    throw error;
  }
}

async function copy(deps: MoveDeps, attempt: Attempt, target: Driver, node: string | undefined): Promise<void> {
  const { from_host, from_home: from, to_home: to } = attempt;
  const { stop, ...watch } = watchCopy(deps, attempt);
  try {
    await copyHome({ source: driverOf(deps, from_host), target, from, to, node, ...watch });
  } catch (error) {
    throw watch.signal.aborted ? watch.signal.reason : error;
  } finally {
    stop();
  }
}

function driverOf({ drivers }: MoveDeps, hostId: string): Driver {
  const driver = drivers.get(hostId);
  if (!driver) throw new DriverError("unavailable", `this worker knows no host ${hostId}`);
  return driver;
}
