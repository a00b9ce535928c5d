import { readLines } from "../../read-lines.ts";
import { ClusterRefusal } from "../cluster/cluster-errors.ts";
import { podsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { labContainer } from "./pod-body.ts";

interface LogOptions {
  readonly tail: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** Lines of a pod's stdout and stderr; none for a pod that is absent or not started. Ends with the pod or the signal. */
export async function* podLogs(
  cluster: Cluster,
  pod: string,
  { tail, follow, signal }: LogOptions,
): AsyncGenerator<string, void> {
  const path = `${podsPath(cluster, pod)}/log`;
  const query = { container: labContainer, tailLines: tail, follow };
  try {
    yield* readLines(cluster.stream({ path, query, signal }));
  } catch (error) {
    // 400: its container has not started.
    if (signal.aborted || (error instanceof ClusterRefusal && [400, 404].includes(error.status))) return;
    throw cluster.explain(error);
  }
}
