import { execOutput } from "../kubernetes/cluster/exec-in-pod.ts";
import type { Cluster } from "../kubernetes/cluster/open-cluster.ts";
import { labContainer } from "../kubernetes/pods/pod-body.ts";
import type { Target } from "./probe-targets.ts";

/**
 * A Python program that opens a TCP connection to each address and prints who answered. A policy drops packets, so a closed
 * address takes the whole time limit.
 */
export function probeProgram(targets: readonly Target[]): string {
  const addresses = JSON.stringify(targets.map(({ host, port }) => [host, port]));
  return `
import concurrent.futures, json, socket
def reached(target):
    try:
        socket.create_connection(tuple(target), 3).close()
        return True
    except OSError:
        return False
targets = json.loads('${addresses}')
with concurrent.futures.ThreadPoolExecutor(len(targets)) as pool:
    print(json.dumps(list(pool.map(reached, targets))))
`;
}

/** Names of the targets that the program's output calls reached. */
export function reachedIn(output: string, targets: readonly Target[]): readonly string[] {
  const reached: readonly boolean[] = JSON.parse(output);
  return targets.filter((_, index) => reached[index]).map(({ name }) => name);
}

/** Names of the targets that a run's pod reaches. */
export async function probeFromPod(
  cluster: Cluster,
  pod: string,
  targets: readonly Target[],
): Promise<readonly string[]> {
  const command = ["/usr/bin/python3", "-c", probeProgram(targets)];
  const signal = AbortSignal.timeout(60_000);
  return reachedIn(await execOutput(cluster, { pod, container: labContainer, command, signal }), targets);
}
