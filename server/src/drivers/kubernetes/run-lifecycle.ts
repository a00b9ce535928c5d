import type { V1Pod } from "@kubernetes/client-node";
import { checkSegment } from "../check-segment.ts";
import { DriverError, type Observed, type Spec } from "../driver.ts";
import type { NewHome } from "../homes/home-store.ts";
import { specHash } from "../spec-hash.ts";
import { startStep } from "../start-step.ts";
import { isConflict, orAbsent } from "./cluster/cluster-errors.ts";
import { annotation, label, podsPath } from "./cluster/objects.ts";
import type { Cluster } from "./cluster/open-cluster.ts";
import { untilPod } from "./cluster/watch-pods.ts";
import { missingImage } from "./images/prepare-image.ts";
import type { ClusterFacts } from "./nodes/cluster-facts.ts";
import { observePod } from "./pods/observe-pod.ts";
import { gpuSlots, type Placement, podBody, podNameOf } from "./pods/pod-body.ts";

export interface LifecycleDeps extends Placement {
  readonly cluster: Cluster;
  /** The image's reference by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
  readonly facts: (refresh?: boolean) => Promise<ClusterFacts>;
  /** Once per process and again after a failure. */
  readonly ensureNetwork: (signal: AbortSignal) => Promise<void>;
  readonly makeClaim: (spec: NewHome, signal: AbortSignal) => Promise<void>;
  readonly serially: <T>(key: string, work: () => Promise<T>) => Promise<T>;
}

/** The pod of a run of this installation; undefined when there is none. */
export async function findPod(
  { cluster, install }: Pick<LifecycleDeps, "cluster" | "install">,
  id: string,
  signal: AbortSignal,
): Promise<V1Pod | undefined> {
  const path = podsPath(cluster, podNameOf(checkSegment("environment", id)));
  const pod = await orAbsent(cluster.call<V1Pod>({ path, signal }));
  return pod?.metadata?.labels?.[label.install] === install ? pod : undefined;
}

export function observedOf(pod: V1Pod | undefined): Observed {
  return pod ? observePod(pod) : { state: "absent" };
}

/** As `Driver.start`. */
export async function startRun(deps: LifecycleDeps, spec: Spec, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const existing = await findPod(deps, spec.id, signal);
  const step = startStep(observedOf(existing), { generation: spec.generation, specHash: specHash(spec) });
  const isEnding = existing?.metadata?.deletionTimestamp !== undefined;
  if (step !== "create" && !isEnding) return;
  const image = await deps.images(spec.image);
  if (!image) throw missingImage(spec.image);
  const gpuProduct = await productOf(deps, spec);
  if (existing) await removeRun(deps, spec.id, 1_000, signal);
  await deps.ensureNetwork(signal);
  await deps.makeClaim(spec, signal);
  await createPod(deps, spec, podBody(spec, { ...deps, image, gpuProduct }), signal);
}

/** The model of the leased GPUs, which the pod's node must have. Throws `no_gpu` when the cluster has lost one. */
async function productOf({ facts }: LifecycleDeps, { gpus }: Spec): Promise<string | undefined> {
  const slots = gpuSlots(gpus);
  if (slots.length === 0) return undefined;
  const { products } = await facts();
  const missing = slots.filter((slot) => !products.has(slot));
  if (missing.length > 0) throw new DriverError("no_gpu", `this cluster has no ${missing.join(", ")}`);
  return products.get(slots[0] ?? "") || undefined;
}

/** Leaves nothing when it fails or is given up, unless the API server cannot be reached any more. */
async function createPod(deps: LifecycleDeps, spec: Spec, body: V1Pod, signal: AbortSignal): Promise<void> {
  const { cluster } = deps;
  try {
    await cluster.call({ method: "POST", path: podsPath(cluster), body, signal });
  } catch (error) {
    if (isConflict(error)) return await judgeOther(deps, spec, signal);
    // Within a timeout of its own, because the first may have passed. The reconciler removes leftovers.
    await cluster.withTimeout((limit) => rollBack(deps, spec, limit)).catch(() => {});
    throw signal.aborted ? signal.reason : error;
  }
}

/** Another server has created a pod of this name. Only the same run may go on. */
async function judgeOther(deps: LifecycleDeps, spec: Spec, signal: AbortSignal): Promise<void> {
  const pod = await findPod(deps, spec.id, signal);
  if (pod?.metadata?.annotations?.[annotation.spec] === specHash(spec)) return;
  throw new DriverError("refused", `another pod has the name ${podNameOf(spec.id)}`);
}

/** The API server may have created the pod although its reply was lost. */
async function rollBack(deps: LifecycleDeps, spec: Spec, signal: AbortSignal): Promise<void> {
  const pod = await findPod(deps, spec.id, signal);
  if (pod?.metadata?.annotations?.[annotation.spec] === specHash(spec)) await removeRun(deps, spec.id, 0, signal);
}

export const longestGraceMs = 5_000;

/** As `Driver.stop`. Returns when the node has confirmed the end: a grace of 0 would only delete the record of the pod. */
export async function removeRun(
  deps: Pick<LifecycleDeps, "cluster" | "install">,
  id: string,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = deps;
  const pod = await findPod(deps, id, signal);
  if (pod) await deletePod(cluster, pod, graceMs, signal);
}

/** Deletes this very pod, not a later one of its name, and waits until it is gone. */
async function deletePod(cluster: Cluster, pod: V1Pod, graceMs: number, signal: AbortSignal): Promise<void> {
  const { name = "", uid = "" } = pod.metadata ?? {};
  const gracePeriodSeconds = Math.max(1, Math.ceil(Math.min(graceMs, longestGraceMs) / 1000));
  const body = { gracePeriodSeconds, preconditions: { uid } };
  await orAbsent(cluster.call({ method: "DELETE", path: podsPath(cluster, name), body, signal }), 409);
  await untilPod(cluster, name, (found) => found?.metadata?.uid !== uid, signal);
}
