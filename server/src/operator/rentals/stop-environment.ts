import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import { endByOperator, stopByOperator } from "../../environments/api/environment-actions.ts";
import { type Environment, isEnvironmentId } from "../../environments/environment.ts";
import { areMissing } from "../../environments/homes/missing-files.ts";
import type { Announce } from "../../environments/notice.ts";
import { sentence } from "../../text/sentence.ts";

interface RentalDeps {
  readonly db: Db;
  readonly announce: Announce;
}

/** Stops a running environment, for the author's reason, which its owner reads. Returns false when it was stopped before. */
export async function stopEnvironment(deps: RentalDeps, id: string, author: Author): Promise<boolean> {
  const reason = requireReason(author);
  return await deps.db.transaction().execute(async (tx) => {
    const row = await lockEnvironment(tx, id);
    if (row.status === "stopped" || row.desired === "stopped") return false;
    await stopByOperator(tx, row);
    await deps.announce(tx, {
      userId: row.user_id,
      cause: `operator-stopped:${id}:${row.generation}`,
      title: `${row.subdomain} was stopped by us`,
      body: `${sentence(reason)} Its files are kept. You can start it again.`,
      link: `/environments/${id}`,
    });
    await recordAct(tx, author, "environment.stop", id);
    return true;
  });
}

/**
 * Ends an environment for the author's reason (G27). With `refund` its unused time is paid back (G108); not for what the
 * terms forbid, such as mining (G69). A launch that was never ready is always refunded. Returns false when it ends already.
 */
export async function terminateEnvironment(
  { db, announce }: RentalDeps,
  id: string,
  refund: boolean,
  author: Author,
): Promise<boolean> {
  const reason = requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const row = await lockEnvironment(tx, id);
    if (row.desired === "terminated") return false;
    await endByOperator(tx, row, refund);
    const money = refund || row.created_at === null ? " The time that you could not use is paid back." : "";
    const files = (await areMissing(tx, row)) ? "" : " Its files are kept as after any end.";
    await announce(tx, {
      userId: row.user_id,
      cause: `operator-ended:${id}`,
      title: `${row.subdomain} was ended by us`,
      body: `${sentence(reason)}${money}${files}`,
      link: `/environments/${id}`,
    });
    await recordAct(tx, author, "environment.terminate", id, { refund });
    return true;
  });
}

async function lockEnvironment(tx: Tx, id: string): Promise<Environment> {
  const row = isEnvironmentId(id)
    ? await tx.selectFrom("environments").selectAll().where("id", "=", id).forUpdate().executeTakeFirst()
    : undefined;
  if (row) return row as Environment;
  // A name may be another customer's by the time that a command is repeated, so it ends nothing by itself.
  const named = await tx
    .selectFrom("environments")
    .select("id")
    .where("subdomain", "=", id)
    .where("status", "<>", "terminated")
    .executeTakeFirst();
  throw new AppError(
    "not_found",
    named
      ? `${id} is a name: repeat the command with its id, ${named.id}`
      : `There is no environment ${id}; environments names those that have not ended`,
  );
}
