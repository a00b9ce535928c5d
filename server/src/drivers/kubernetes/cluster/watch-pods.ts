import { setTimeout as wait } from "node:timers/promises";
import type { V1Pod, V1PodList, V1Status } from "@kubernetes/client-node";
import { readLines } from "../../read-lines.ts";
import { ClusterRefusal, orAbsent } from "./cluster-errors.ts";
import { annotation, label, podsPath } from "./objects.ts";
import type { Cluster } from "./open-cluster.ts";

type PodEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: V1Pod }
  | { readonly type: "ERROR"; readonly object: V1Status };

type PodChange = Exclude<PodEvent, { readonly type: "ERROR" }>;

interface Watched {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number;
}

/** The version that a watch begins at is too old for the server: what changed since then is in a list only. */
const expired = 410;
/** A server that says so at once each time is not asked without a pause. */
const expiredMs = 500;

/**
 * Changes after a resource version. Ends with the server's timeout, and when the version is too old, which the server says by
 * the status of its reply or by an event. Throws `ClusterRefusal`.
 */
async function* podEvents(cluster: Cluster, query: Watched, signal: AbortSignal): AsyncGenerator<PodChange, void> {
  const path = podsPath(cluster);
  try {
    for await (const line of readLines(cluster.stream({ path, query: { watch: true, ...query }, signal }))) {
      const event = JSON.parse(line) as PodEvent;
      if (event.type !== "ERROR") yield event;
      else throw new ClusterRefusal(event.object.code ?? 500, event.object.reason ?? "", event.object.message ?? "");
    }
  } catch (error) {
    if (!(error instanceof ClusterRefusal && error.status === expired)) throw error;
    await wait(expiredMs, undefined, { signal });
  }
}

/** Waits until a pod is as wanted, and returns it; undefined: the pod is absent. Ends with the signal. */
export async function untilPod(
  cluster: Cluster,
  name: string,
  isDone: (pod: V1Pod | undefined) => boolean,
  signal: AbortSignal,
): Promise<V1Pod | undefined> {
  for (;;) {
    const pod = await orAbsent(cluster.call<V1Pod>({ path: podsPath(cluster, name), signal }));
    if (isDone(pod)) return pod;
    const resourceVersion = pod?.metadata?.resourceVersion;
    const query = { fieldSelector: `metadata.name=${name}`, resourceVersion, timeoutSeconds: 10 };
    for await (const { type, object } of podEvents(cluster, query, signal)) {
      const next = type === "DELETED" ? undefined : object;
      if (isDone(next)) return next;
    }
  }
}

const resyncSeconds = 30;
const reopenMs = 2_000;

/**
 * As `Driver.watch`: environment ids of our runs, one for each change. Lists again every 30 s and after every error, and then
 * returns each run that has changed or is gone since it was last listed or named by an event.
 */
export async function* watchRuns(cluster: Cluster, install: string, signal: AbortSignal): AsyncGenerator<string, void> {
  const labelSelector = `${label.install}=${install},${label.part}=run`;
  let known: ReadonlyMap<string, string> | undefined;
  while (!signal.aborted) {
    try {
      const list = await cluster.call<V1PodList>({ path: podsPath(cluster), query: { labelSelector }, signal });
      const listed = new Map(list.items.map((pod) => [environmentOf(pod), versionOf(pod)]));
      if (known) yield* changedIn(known, listed);
      known = listed;
      const { resourceVersion } = list.metadata ?? {};
      const query = { labelSelector, resourceVersion, timeoutSeconds: resyncSeconds };
      for await (const { type, object } of podEvents(cluster, query, signal)) {
        const id = environmentOf(object);
        if (type === "DELETED") listed.delete(id);
        // Else the end of a run that began after the list would be in no list.
        else listed.set(id, versionOf(object));
        yield id;
      }
    } catch {
      // The other operations report an unreachable cluster.
      await wait(reopenMs, undefined, { signal }).catch(() => {});
    }
  }
}

const environmentOf = (pod: V1Pod) => pod.metadata?.annotations?.[annotation.environment] ?? "";
const versionOf = (pod: V1Pod) => pod.metadata?.resourceVersion ?? "";

function* changedIn(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Generator<string> {
  for (const [id, version] of now) if (before.get(id) !== version) yield id;
  for (const id of before.keys()) if (!now.has(id)) yield id;
}
