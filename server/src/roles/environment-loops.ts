import type { Loop } from "../async/start-interval.ts";
import type { Config } from "../config/config.ts";
import type { RemoteDeps, RemoteMachine } from "../drivers/docker/open-remote.ts";
import type { ClusterMachine } from "../drivers/kubernetes/open-added-cluster.ts";
import { startSampling } from "../environments/activity/start-sampling.ts";
import { startGpuChecks } from "../environments/hosts/start-gpu-checks.ts";
import { startPreparingImages } from "../environments/hosts/start-preparing-images.ts";
import { startReadingCapacity } from "../environments/hosts/start-reading-capacity.ts";
import { startRemoteHosts } from "../environments/hosts/start-remote-hosts.ts";
import { startMiningDetector } from "../environments/mining/start-mining-detector.ts";
import { startMoving } from "../environments/moves/start-moving.ts";
import { startQueueProcessor } from "../environments/queue/process-queue.ts";
import { type ReconcilerDeps, startReconciler } from "../environments/reconciler/start-reconciler.ts";
import { startWarmPool } from "../environments/warm-pool/start-warm-pool.ts";

/** The worker's loops that keep environments and hosts as the database says. */
export async function environmentLoops(
  { brand, mining, catalogue, retentionDays, warmPool: sizes, slots, docker: { needsLiveRestore } }: Config,
  remotes: readonly RemoteMachine[],
  clusters: readonly ClusterMachine[],
  deps: Omit<ReconcilerDeps, "retentionDays" | "checks"> & RemoteDeps,
): Promise<Loop[]> {
  const { loops, checks } = await startRemoteHosts(remotes, clusters, { ...deps, slots, needsLiveRestore });
  return [
    ...loops,
    startReadingCapacity({ ...deps, slots, checks }),
    startPreparingImages({ ...deps, types: catalogue.types.map(({ id }) => id) }),
    startReconciler({ ...deps, checks, retentionDays }),
    startSampling(deps),
    startGpuChecks(deps),
    ...(mining === "off" ? [] : [startMiningDetector({ ...deps, mode: mining, contact: brand.email })]),
    startMoving(deps),
    startQueueProcessor(deps),
    startWarmPool({ ...deps, sizes }),
  ];
}
