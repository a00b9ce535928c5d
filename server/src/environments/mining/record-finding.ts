import { sql } from "kysely";
import { recordAct } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { endByOperator } from "../api/environment-actions.ts";
import type { Environment } from "../environment.ts";
import type { Announce } from "../notice.ts";

export interface Suspicion {
  readonly kind: "program" | "pool" | "gpu";
  /** A clause such as "the program xmrig runs". */
  readonly what: string;
  /** Command lines, cut; empty for a GPU alone. */
  readonly commands: readonly string[];
  /** A known miner is executed, talks to a pool and keeps the GPUs busy: what alone ends an environment by itself (G305). */
  readonly isCertain: boolean;
  readonly gpuPercent?: number;
  readonly quietMinutes?: number;
}

type Evidence = Omit<Suspicion, "isCertain">;

export interface MiningDeps {
  readonly db: Db;
  readonly announce: Announce;
  /** The seller's address. */
  readonly contact: string;
  readonly mode: "ask" | "stop";
}

interface Run {
  readonly id: string;
  readonly generation: number;
}

/**
 * Keeps what speaks for mining in a run, for a person to look at. With `stop` what is certain ends the environment at once,
 * without a refund; nothing else does, because a training or a script of that name looks the same (G69, G157, G305). Returns
 * what was new. A dismissed finding stays dismissed for that run.
 */
export async function recordFinding(
  deps: MiningDeps,
  run: Run,
  { isCertain, ...found }: Suspicion,
): Promise<"known" | "found" | "ended"> {
  return await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<Environment>`select * from environments where id = ${run.id} for update`.execute(tx);
    const [row] = rows;
    if (row?.generation !== run.generation || row.status !== "active" || row.desired === "terminated") return "known";
    const { id, isNew, dismissed } = await writeFinding(tx, row, found);
    if (dismissed || deps.mode !== "stop" || !isCertain) return isNew ? "found" : "known";
    await endMining(tx, deps, row, found);
    // What was found first may have been less.
    const { kind: _, ...evidence } = found;
    const change = { ended: true, evidence: JSON.stringify(evidence) };
    await tx.updateTable("mining_findings").set(change).where("id", "=", id).execute();
    return "ended";
  });
}

async function writeFinding(tx: Tx, { id, user_id, generation }: Environment, { kind, ...found }: Evidence) {
  const { rows } = await sql<{ id: string; isNew: boolean; dismissed: boolean }>`
    insert into mining_findings (id, environment_id, user_id, generation, kind, evidence)
    values (${newId()}, ${id}, ${user_id}, ${generation}, ${kind}, ${JSON.stringify(found)})
    on conflict (environment_id, generation, kind) do update set seen_at = now()
    returning id, xmax = 0 as "isNew", dismissed_at is not null as dismissed`.execute(tx);
  const [written] = rows;
  if (!written) throw new Error("no finding was written");
  return written;
}

async function endMining(tx: Tx, { announce, contact }: MiningDeps, row: Environment, found: Evidence): Promise<void> {
  await endByOperator(tx, row, false);
  await announce(tx, {
    userId: row.user_id,
    cause: `operator-ended:${row.id}`,
    title: `${row.subdomain} was ended by us`,
    body: `Crypto mining was found in it: ${found.what}. The terms do not allow it, so nothing is paid back. Its files are kept as after any end. Write to ${contact} if you think that this is a mistake; a person will look at it.`,
    link: `/environments/${row.id}`,
  });
  const reason = `Crypto mining: ${found.what}`.slice(0, 1000);
  await recordAct(tx, { actor: "worker:mining", reason }, "environment.terminate", row.id, { refund: false });
}

/** Deletes findings 30 days after they were dismissed, and a year after the environment's end. */
export async function purgeFindings(db: Db): Promise<void> {
  await sql`
    delete from mining_findings f using environments e where e.id = f.environment_id
      and (f.dismissed_at < now() - interval '30 days' or e.terminated_at < now() - interval '1 year')`.execute(db);
}
