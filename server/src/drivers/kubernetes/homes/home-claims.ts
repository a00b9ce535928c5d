import { setTimeout as wait } from "node:timers/promises";
import type { V1PersistentVolumeClaim, V1PodList } from "@kubernetes/client-node";
import { checkSegment } from "../../check-segment.ts";
import { DriverError } from "../../driver.ts";
import type { NewHome } from "../../homes/home-store.ts";
import { isConflict, orAbsent } from "../cluster/cluster-errors.ts";
import { annotation, claimsPath, label, labelsOf, podsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { claimOf } from "../pods/pod-body.ts";

export interface ClaimDeps {
  readonly cluster: Cluster;
  readonly install: string;
  /** Undefined: the cluster's default class. */
  readonly storageClass: string | undefined;
}

/** The claim of a home, of whichever installation; undefined when there is none. */
export async function findClaim(
  cluster: Cluster,
  home: string,
  signal: AbortSignal,
): Promise<V1PersistentVolumeClaim | undefined> {
  const path = claimsPath(cluster, claimOf(checkSegment("home", home)));
  return await orAbsent(cluster.call<V1PersistentVolumeClaim>({ path, signal }));
}

/** Whether a claim is this installation's and not being deleted. */
const isOurs = (claim: V1PersistentVolumeClaim, install: string) => claim.metadata?.labels?.[label.install] === install;

/** What the scheduler writes when it has chosen a node: storage that waits for a node makes the volume then. */
const selectedNode = "volume.kubernetes.io/selected-node";
const bindMs = 2_000;
const bindPollMs = 50;

/**
 * Makes the claim of a home that has none, for a run on `node` if that is known. Then it waits for the volume, at most two
 * seconds, because a scheduler that finds none looks again only after a second. Throws `no_home` when a home that was used
 * has none (G111), and `refused` when the claim is another installation's.
 */
export async function makeClaim(
  deps: ClaimDeps,
  { home, homeIsKept, limits }: NewHome,
  node: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, install, storageClass } = deps;
  const existing = await findClaim(cluster, home, signal);
  if (existing) return assertOurs(existing, install, home);
  if (homeIsKept)
    throw new DriverError(
      "no_home",
      `The files of ${home} are not in the cluster: the claim ${claimOf(home)} of the namespace ${cluster.namespace} is gone`,
    );
  const body: V1PersistentVolumeClaim = {
    metadata: {
      name: claimOf(home),
      labels: labelsOf(install, "home"),
      annotations: { [annotation.home]: home, ...(node !== undefined && { [selectedNode]: node }) },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: `${limits.diskGb}G` } },
      ...(storageClass !== undefined && { storageClassName: storageClass }),
    },
  };
  try {
    await cluster.call({ method: "POST", path: claimsPath(cluster), body, signal });
  } catch (error) {
    // Another server has made it meanwhile.
    if (!isConflict(error)) throw error;
  }
  if (node !== undefined) await untilBound(cluster, home, signal);
}

async function untilBound(cluster: Cluster, home: string, signal: AbortSignal): Promise<void> {
  const endsAt = performance.now() + bindMs;
  while ((await findClaim(cluster, home, signal))?.status?.phase !== "Bound" && performance.now() < endsAt)
    await wait(bindPollMs, undefined, { signal });
}

function assertOurs(claim: V1PersistentVolumeClaim, install: string, home: string): void {
  if (!isOurs(claim, install))
    throw new DriverError("refused", `the files of ${home} belong to another installation in this namespace`);
  if (claim.metadata?.deletionTimestamp)
    throw new DriverError("unavailable", `the former files of ${home} are still being deleted`);
}

/** As `Driver.deleteHome`. Files are deleted where the storage class reclaims by `Delete`. */
export async function deleteClaim({ cluster, install }: ClaimDeps, home: string, signal: AbortSignal): Promise<void> {
  const claim = await findClaim(cluster, home, signal);
  if (!claim) return;
  if (!isOurs(claim, install))
    throw new DriverError("refused", `the files of ${home} belong to another installation in this namespace`);
  const query = { labelSelector: `${label.home}=${claimOf(home)}` };
  const { items } = await cluster.call<V1PodList>({ path: podsPath(cluster), query, signal });
  const isUsed = items.some(({ status }) => status?.phase === "Pending" || status?.phase === "Running");
  if (isUsed) throw new DriverError("refused", `a run uses ${home}`);
  const path = claimsPath(cluster, claimOf(home));
  await orAbsent(cluster.call({ method: "DELETE", path, body: {}, signal }));
  // It is gone once the cluster has seen that no pod mounts it.
  while (await findClaim(cluster, home, signal)) await wait(100, undefined, { signal });
}
