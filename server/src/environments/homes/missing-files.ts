import { sql } from "kysely";
import type { Db, Sql, Tx } from "../../database/database.ts";
import { DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { Environment } from "../environment.ts";
import type { Announce } from "../notice.ts";

export interface MissingFilesDeps {
  readonly db: Db;
  readonly announce: Announce;
  readonly log: Logger;
}

/** The files of the environment are missing, or its container has others (G111). */
export function isNoHome(error: unknown): boolean {
  return error instanceof DriverError && error.code === "no_home";
}

/** Whether the files of an environment are known to be missing. */
export async function areMissing(db: Sql, { home, host_id }: Pick<Environment, "home" | "host_id">): Promise<boolean> {
  const { rows } = await sql`
    select from homes where home = ${home} and host_id = ${host_id} and missing_since is not null`.execute(db);
  return rows.length > 0;
}

/**
 * Stops an environment that has run before, with its time banked, instead of starting it with an empty folder. False for
 * a first launch, which is retried until it is given up, and where the desired state has changed.
 */
export async function stopWithoutFiles(deps: MissingFilesDeps, row: Environment, error: unknown): Promise<boolean> {
  if (row.created_at === null) return false;
  return await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      update environments set desired = 'stopped', stop_reason = 'no_home', last_error = ${String(error).slice(0, 500)}
      where id = ${row.id} and lease_token = ${row.lease_token} and desired = 'running' returning id`.execute(tx);
    if (rows.length > 0) await recordMissing(tx, deps, row, error);
    return rows.length > 0;
  });
}

/** `homes.missing_since` holds until JupyterLab is ready on these files again; operator and owner are notified once. */
export async function recordMissingFiles(deps: MissingFilesDeps, row: Environment, error: unknown): Promise<void> {
  await deps.db.transaction().execute((tx) => recordMissing(tx, deps, row, error));
}

async function recordMissing(
  tx: Tx,
  { announce, log }: MissingFilesDeps,
  row: Environment,
  error: unknown,
): Promise<void> {
  const { id, home, host_id: hostId, user_id: userId, subdomain } = row;
  const { rows } = await sql<{ at: Date }>`
    update homes set missing_since = now() where home = ${home} and host_id = ${hostId} and missing_since is null
    returning missing_since as at`.execute(tx);
  const at = rows[0]?.at;
  if (!at) return;
  log.fatal({ event: "home.missing", environmentId: id, home, hostId, err: error }, "the files are not there");
  await announce(tx, {
    userId,
    cause: `no-home:${home}:${at.toISOString()}`,
    title: `The files of ${subdomain} are not there`,
    body: "It is not started: an empty folder in their place would look like yours. Its clock stands still, so none of its time is lost. Whoever runs this service has been told and looks for the files. Start it again when they are back.",
    link: `/environments/${id}`,
  });
}
