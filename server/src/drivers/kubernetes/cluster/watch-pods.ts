import { setTimeout as wait } from "node:timers/promises";
import type { V1Pod, V1PodList } from "@kubernetes/client-node";
import { readLines } from "../../read-lines.ts";
import { orAbsent } from "./cluster-errors.ts";
import { annotation, label, podsPath } from "./objects.ts";
import type { Cluster } from "./open-cluster.ts";

interface PodEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: V1Pod;
}

interface Watched {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number;
}

/** Changes after a resource version. Ends with the server's timeout, and when the version is too old (410). */
async function* podEvents(cluster: Cluster, query: Watched, signal: AbortSignal): AsyncGenerator<PodEvent, void> {
  const path = podsPath(cluster);
  for await (const line of readLines(cluster.stream({ path, query: { watch: true, ...query }, signal }))) {
    const event = JSON.parse(line) as PodEvent;
    if (event.type === "ERROR") return;
    yield event;
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
 * returns each run that has changed or is gone since the last list.
 */
export async function* watchRuns(cluster: Cluster, install: string, signal: AbortSignal): AsyncGenerator<string, void> {
  const labelSelector = `${label.install}=${install},${label.part}=run`;
  let known: ReadonlyMap<string, string> | undefined;
  while (!signal.aborted) {
    try {
      const list = await cluster.call<V1PodList>({ path: podsPath(cluster), query: { labelSelector }, signal });
      const listed = new Map(list.items.map((pod) => [environmentOf(pod), pod.metadata?.resourceVersion ?? ""]));
      if (known) yield* changedIn(known, listed);
      known = listed;
      const { resourceVersion } = list.metadata ?? {};
      const query = { labelSelector, resourceVersion, timeoutSeconds: resyncSeconds };
      for await (const { object } of podEvents(cluster, query, signal)) yield environmentOf(object);
    } catch {
      // The other operations report an unreachable cluster.
      await wait(reopenMs, undefined, { signal }).catch(() => {});
    }
  }
}

const environmentOf = (pod: V1Pod) => pod.metadata?.annotations?.[annotation.environment] ?? "";

function* changedIn(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Generator<string> {
  for (const [id, version] of now) if (before.get(id) !== version) yield id;
  for (const id of before.keys()) if (!now.has(id)) yield id;
}
