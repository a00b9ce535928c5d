import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Driver } from "../../drivers/driver.ts";
import { logError } from "../../logging/create-logger.ts";
import type { Announce } from "../notice.ts";
import { runId } from "../run-id.ts";
import { dropEnded, eachHost, forEachConcurrently, type Host, type HostDeps, hasEnded } from "./each-host.ts";
import { clearGpuFault, quarantineGpus, replaceRun, type WithGpus } from "./gpu-faults.ts";
import { ownShare } from "./own-share.ts";

const usualMs = 60_000;

export interface GpuCheckDeps extends HostDeps {
  readonly announce: Announce;
  readonly intervalMs?: number;
}

/** Failed checks in a row before a run is replaced: a single one may be chance. */
const mostFailures = 3;

interface Failing {
  readonly generation: number;
  readonly times: number;
  readonly sinceMs: number;
}

/**
 * Checks every minute, for each active environment that has GPUs, whether they respond. After three failures it
 * gets a new run; if that one fails too, the GPUs are broken. A check without a result does not count.
 */
export function startGpuChecks(deps: GpuCheckDeps): Loop {
  return eachHost("gpu-checks", deps, deps.intervalMs ?? usualMs, (host) => checkHost(deps, host));
}

function checkHost(deps: GpuCheckDeps, host: Host): () => Promise<number> {
  const failing = new Map<string, Failing>();
  return async () => {
    const rows = await withGpus(deps, host.id);
    dropEnded(failing, rows);
    await forEachConcurrently(host, rows, (row) =>
      checkGpus(deps, host.driver, failing, row).catch(
        logError(deps.log, "gpu.check_failed", { hostId: host.id, environmentId: row.id }),
      ),
    );
    return deps.intervalMs ?? usualMs;
  };
}

async function checkGpus(
  deps: GpuCheckDeps,
  driver: Driver,
  failing: Map<string, Failing>,
  row: WithGpus,
): Promise<void> {
  const { db, announce, log } = deps;
  let fault: string | undefined;
  try {
    fault = await driver.gpuFault(row.runId);
  } catch (error) {
    if (hasEnded(error)) return;
    throw error;
  }
  const before = failing.get(row.id);
  failing.delete(row.id);
  if (fault === undefined) return row.faultyGeneration === null ? undefined : await clearGpuFault(db, row);
  const known = before?.generation === row.generation ? before : { times: 0, sinceMs: performance.now() };
  const now = { ...known, generation: row.generation, times: known.times + 1 };
  if (now.times < mostFailures) return void failing.set(row.id, now);
  const seconds = (performance.now() - now.sinceMs) / 1000;
  const isBroken = row.faultyGeneration !== null;
  if (!(await (isBroken ? quarantineGpus(db, row, seconds, fault) : replaceRun(db, announce, row, seconds)))) return;
  const what = isBroken ? "Its GPUs are quarantined and the rental ends" : "It gets a new run";
  log.fatal({ event: "gpu.silent", environmentId: row.id }, `the GPUs do not respond: ${fault}. ${what}`);
}

async function withGpus({ db, workerId }: GpuCheckDeps, hostId: string): Promise<readonly WithGpus[]> {
  const { rows } = await sql<WithGpus>`
    select id, ${runId} as "runId", user_id as "userId", subdomain, generation, faulty_generation as "faultyGeneration" from environments e
    where host_id = ${hostId} and status = 'active' and desired = 'running' and exists (
      select 1 from gpu_leases l join gpus g on g.id = l.gpu_id
      where l.holder_kind = 'environment' and l.holder_id = e.id and l.released_at is null and g.kind = 'gpu')
      and ${ownShare(workerId, sql.ref("e.id"))}
    order by id`.execute(db);
  return rows;
}
