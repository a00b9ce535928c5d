import type { V1Pod } from "@kubernetes/client-node";
import { checkSegment } from "../check-segment.ts";
import { DriverError, type Observed, type Spec, type Waiting } from "../driver.ts";
import { isExpectedNode } from "../expected-node.ts";
import type { NewHome } from "../homes/home-store.ts";
import { specHash } from "../spec-hash.ts";
import { startStep } from "../start-step.ts";
import { isConflict, orAbsent } from "./cluster/cluster-errors.ts";
import { annotation, label, podsPath } from "./cluster/objects.ts";
import type { Cluster } from "./cluster/open-cluster.ts";
import { untilPod } from "./cluster/watch-pods.ts";
import { nodesOfHome } from "./homes/nodes-of-home.ts";
import { missingImage } from "./images/prepare-image.ts";
import { type AwayDeps, awayNodeOf } from "./nodes/away-node-of.ts";
import { factsOf, usableOf } from "./nodes/cluster-facts.ts";
import { gpuNodes, hostOf } from "./nodes/expected-gpus.ts";
import { killed, observePod } from "./pods/observe-pod.ts";
import { claimOf, gpuSlots, type Placement, type PodContext, podBody, podNameOf } from "./pods/pod-body.ts";
import type { ReadEvents } from "./pods/read-events.ts";
import { waitOfPod } from "./pods/wait-of-pod.ts";

export interface LifecycleDeps extends Placement, AwayDeps {
  readonly cluster: Cluster;
  readonly events: ReadEvents;
  /** The image's reference by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
  /** Once per process and again after a failure. */
  readonly ensureNetwork: (signal: AbortSignal) => Promise<void>;
  readonly makeClaim: (spec: NewHome, node: string | undefined, signal: AbortSignal) => Promise<void>;
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

/** As `Driver.observe`, for the pod of a run. */
export async function observeRun(deps: LifecycleDeps, pod: V1Pod | undefined, signal: AbortSignal): Promise<Observed> {
  const observed = observedOf(pod);
  const away = pod && (await awayNodeOf(deps, pod, signal));
  if (pod && observed.state === "starting" && !away) return { ...observed, ...(await waitOf(deps, pod, signal)) };
  if (!away || observed.state === "absent") return observed;
  // A node that was lost again gave signs when this run began.
  const since = away.since && (away.since > observed.createdAt ? away.since : observed.createdAt);
  const home = pod.metadata?.annotations?.[annotation.home] ?? "";
  const others = away.isOff ? await nodesOfHome(deps, home, signal) : [];
  if (others && usableOf(others, deps.nodeSelector).length === 0)
    throw new DriverError("lost", `The node ${away.name} gives no sign since ${away.since?.toISOString()}`, { since });
  return { ...observed, state: "stopped", exit: { code: killed, outOfMemory: false, lostSince: since ?? null } };
}

/** A start that takes no longer than usual waits for nothing worth telling. */
const usualMs = 5_000;

async function waitOf({ events }: LifecycleDeps, pod: V1Pod, signal: AbortSignal): Promise<{ waiting?: Waiting }> {
  const { name = "", annotations, creationTimestamp, deletionTimestamp } = pod.metadata ?? {};
  const ageMs = Date.now() - new Date(creationTimestamp ?? 0).getTime();
  const isExpected = isExpectedNode(annotations?.[annotation.gpus] ?? "") && !pod.spec?.nodeName;
  if ((ageMs < usualMs && !isExpected) || deletionTimestamp) return {};
  // A volume is made once the pod has a node in prospect, and the pod does not say so.
  const claim = pod.spec?.nodeName ? [] : await events(claimOf(annotations?.[annotation.home] ?? ""), signal);
  const waiting = waitOfPod(pod, [...claim, ...(await events(name, signal))]);
  return waiting ? { waiting } : {};
}

/** As `Driver.start`. */
export async function startRun(deps: LifecycleDeps, spec: Spec, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const existing = await findPod(deps, spec.id, signal);
  const step = startStep(await observeRun(deps, existing, signal), {
    generation: spec.generation,
    specHash: specHash(spec),
  });
  const isEnding = existing?.metadata?.deletionTimestamp !== undefined;
  if (step !== "create" && !isEnding) return;
  const image = await deps.images(spec.image);
  if (!image) throw missingImage(spec.image);
  const place = await placeOf(deps, spec, signal);
  if (existing) await removeRun(deps, spec.id, 1_000, signal);
  await deps.ensureNetwork(signal);
  await deps.makeClaim(spec, place.node, signal);
  await createPod(deps, spec, podBody(spec, { ...deps, image, ...place }), signal);
}

/**
 * The node of the leased GPUs, or the nodes that are not it, where it has yet to join; no node without GPUs. Throws `lost` when
 * no usable node can mount the home, and `no_gpu` when the leased one cannot, or does not offer these GPUs now.
 */
async function placeOf(
  deps: LifecycleDeps,
  { gpus, home }: Spec,
  signal: AbortSignal,
): Promise<Pick<PodContext, "node" | "except">> {
  const able = await nodesOfHome(deps, home, signal);
  const usable = usableOf(able ?? (await deps.nodes(signal)), deps.nodeSelector);
  if (able && usable.length === 0) {
    const names = able.map(({ metadata }) => metadata?.name).join(", ");
    throw new DriverError(
      "lost",
      `The files of ${home} are on ${names || "a node that is gone"}, which takes no pods now`,
    );
  }
  const slots = gpuSlots(gpus);
  if (slots.some(isExpectedNode))
    return { node: undefined, except: gpuNodes(await deps.nodes(signal, "now")).map(hostOf) };
  const { nodes } = factsOf(usable, deps.nodeSelector, deps.slotPrefix);
  const missing = slots.filter((slot) => !nodes.has(slot));
  if (missing.length > 0) throw new DriverError("no_gpu", `No usable node of this cluster has ${missing.join(", ")}`);
  return { node: nodes.get(slots[0] ?? "") };
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

/**
 * As `Driver.stop`. Returns when the node has confirmed the end: a grace of 0 would only delete the record of the pod, as is
 * right when the node is off. A node that gives no sign ends the pod when it is back (`lost`).
 */
export async function removeRun(
  deps: Pick<LifecycleDeps, "cluster" | "install"> & AwayDeps,
  id: string,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = deps;
  const pod = await findPod(deps, id, signal);
  if (!pod) return;
  const away = await awayNodeOf(deps, pod, signal);
  await deletePod(cluster, pod, away?.isOff ? 0 : endingSeconds(graceMs), signal);
  if (away && !away.isOff)
    throw new DriverError("lost", `The node ${away.name} ends ${id} when it is back`, { since: away.since });
  await untilPod(cluster, podNameOf(id), (found) => found?.metadata?.uid !== pod.metadata?.uid, signal);
}

const endingSeconds = (graceMs: number) => Math.max(1, Math.ceil(Math.min(graceMs, longestGraceMs) / 1000));

/** Deletes this very pod, not a later one of its name. */
async function deletePod(cluster: Cluster, pod: V1Pod, gracePeriodSeconds: number, signal: AbortSignal): Promise<void> {
  const { name = "", uid = "" } = pod.metadata ?? {};
  const body = { gracePeriodSeconds, preconditions: { uid } };
  await orAbsent(cluster.call({ method: "DELETE", path: podsPath(cluster, name), body, signal }), 409);
}
