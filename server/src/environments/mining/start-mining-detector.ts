import type { Loop } from "../../async/start-interval.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import type { RowOf } from "../../database/database.ts";
import { DriverError } from "../../drivers/driver.ts";
import { jupyterIdleSeconds } from "../activity/jupyter-idle-seconds.ts";
import { dropEnded, eachHost, forEachConcurrently, type Host, type HostDeps, hasEnded } from "../hosts/each-host.ts";
import { ownShare } from "../hosts/own-share.ts";
import { runId } from "../run-id.ts";
import { busyGpus, quietMinutes } from "./busy-gpus.ts";
import { minerIn } from "./miner-in.ts";
import { type MiningDeps, recordFinding, type Suspicion } from "./record-finding.ts";

const usualMs = 15_000;
const timeoutMs = 10_000;
const mostCommands = 5;
const commandLength = 500;

export type DetectorDeps = HostDeps & MiningDeps & { readonly intervalMs?: number };

type Active = Pick<RowOf<"environments">, "id" | "generation" | "endpoint" | "run_token"> & { readonly runId: string };

/**
 * Looks at the programs of every active environment for known miners and pools, and at its GPUs (G69, G157). A program must
 * be seen twice in a row, so that a look at the wrong moment decides nothing.
 */
export function startMiningDetector(deps: DetectorDeps): Loop {
  return eachHost("mining", deps, deps.intervalMs ?? usualMs, (host) => inspectHost(deps, host));
}

function inspectHost(deps: DetectorDeps, host: Host): () => Promise<number> {
  const { db, log, intervalMs = usualMs } = deps;
  /** By environment id, the suspicious processes of the last look. */
  const seen = new Map<string, ReadonlySet<string>>();
  return async () => {
    const active = await activeOn(deps, host.id);
    dropEnded(seen, active);
    const busy = await busyGpus(db, host.id);
    const failures: unknown[] = [];
    await forEachConcurrently(host, active, (run) =>
      inspect(deps, host, seen, run, busy.get(run.id)).catch((error) => void failures.push(error)),
    );
    // One for all: an unreachable engine would otherwise fill the log.
    const [err] = failures;
    if (err !== undefined) log.warn({ event: "mining.check_failed", hostId: host.id, err });
    return intervalMs;
  };
}

async function inspect(
  deps: DetectorDeps,
  host: Host,
  seen: Map<string, ReadonlySet<string>>,
  run: Active,
  gpuPercent: number | undefined,
): Promise<void> {
  const suspicions = [await suspiciousProgram(host, seen, run, gpuPercent), await suspiciousGpu(run, gpuPercent)];
  for (const suspicion of suspicions) {
    if (!suspicion) continue;
    const outcome = await recordFinding(deps, run, suspicion);
    if (outcome === "known") continue;
    const next = outcome === "ended" ? "it ends" : "a person must look";
    const about = { environmentId: run.id, kind: suspicion.kind };
    deps.log.warn({ event: "mining.found", ...about }, `${suspicion.what}: ${next}`);
  }
}

async function suspiciousProgram(
  { driver }: Host,
  seen: Map<string, ReadonlySet<string>>,
  { id, runId: run }: Active,
  gpuPercent: number | undefined,
): Promise<Suspicion | undefined> {
  const onTimeout = () => {
    throw new DriverError("unavailable", `${id} did not list its processes within ${timeoutMs} ms`);
  };
  const processes = await withTimeout(driver.processes(run), timeoutMs, onTimeout).catch((error) => {
    if (hasEnded(error)) return [];
    throw error;
  });
  const miners = processes.flatMap((each) => {
    const mining = minerIn(each);
    return mining ? [{ ...mining, key: `${each.pid} ${each.command}`, command: each.command }] : [];
  });
  const before = seen.get(id);
  seen.set(id, new Set(miners.map(({ key }) => key)));
  const again = miners.filter(({ key }) => before?.has(key));
  if (again.length === 0) return undefined;
  const executed = again.find(({ isExecuted }) => isExecuted);
  const named = executed ?? again.find(({ program }) => program !== undefined);
  const pool = again.find((each) => each.pool !== undefined)?.pool;
  const isCertain = executed !== undefined && pool !== undefined && gpuPercent !== undefined;
  const what = named ? `the program ${named.program} runs` : `a program talks to the pool ${pool}`;
  return {
    kind: named ? "program" : "pool",
    what: isCertain ? `${what}, talks to the pool ${pool} and keeps the GPUs at ${gpuPercent} %` : what,
    commands: again.slice(0, mostCommands).map(({ command }) => command.slice(0, commandLength)),
    isCertain,
  };
}

/** Only where neither a kernel nor a terminal has done anything for as long; in doubt something has. */
async function suspiciousGpu(
  { endpoint, run_token: token }: Active,
  gpuPercent: number | undefined,
): Promise<Suspicion | undefined> {
  if (gpuPercent === undefined || !endpoint || token === null) return undefined;
  const idleSeconds = await jupyterIdleSeconds(endpoint, token).catch(() => 0);
  if (idleSeconds !== null && idleSeconds < quietMinutes * 60) return undefined;
  const what = `its GPUs are at ${gpuPercent} % for an hour, and no kernel and no terminal works`;
  return { kind: "gpu", what, commands: [], isCertain: false, gpuPercent, quietMinutes };
}

async function activeOn({ db, workerId }: DetectorDeps, hostId: string): Promise<Active[]> {
  return await db
    .selectFrom("environments")
    .select(["id", "generation", "endpoint", "run_token", runId.as("runId")])
    .where("host_id", "=", hostId)
    .where("status", "=", "active")
    .where("desired", "=", "running")
    .where(ownShare(workerId))
    .execute();
}
