import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { V1DaemonSet, V1Pod, V1PodList } from "@kubernetes/client-node";
import { DriverError } from "../../driver.ts";
import { daemonSetsPath, label, labelsOf, objectName, podsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { isolatedContainer, isolatedPod, type Placement } from "../pods/pod-body.ts";

export interface PrepareDeps extends Placement {
  readonly cluster: Cluster;
  /** The image's reference by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
}

const pollMs = 500;

/**
 * As `Driver.prepare`: a DaemonSet keeps the image of each type on every node that runs may use, also on nodes that come
 * later. Throws `no_image` when no node can have it.
 */
export async function prepareImage(
  deps: PrepareDeps,
  type: string,
  progress: (percent: number) => void = () => {},
): Promise<void> {
  const { cluster, install } = deps;
  const image = await deps.images(type);
  if (!image) throw missingImage(type);
  const body = daemonSetOf(deps, type, image);
  const name = body.metadata?.name ?? "";
  const query = { fieldManager: "berth", force: true };
  await cluster.withTimeout((signal) =>
    cluster.call({ method: "PATCH", path: daemonSetsPath(cluster, name), query, body, signal }),
  );
  for (;;) {
    const { metadata, status } = await cluster.withTimeout((signal) =>
      cluster.call<V1DaemonSet>({ path: daemonSetsPath(cluster, name), signal }),
    );
    const { observedGeneration, desiredNumberScheduled: wanted = 0, numberReady: ready = 0 } = status ?? {};
    const isCurrent = observedGeneration === metadata?.generation && (status?.updatedNumberScheduled ?? 0) === wanted;
    if (isCurrent && ready >= wanted) return progress(100);
    progress(Math.floor((99 * ready) / Math.max(1, wanted)));
    const faults = await pullFaults(cluster, `${label.install}=${install},${imageLabel}=${name}`);
    if (isCurrent && ready === 0 && faults.length >= wanted)
      throw new DriverError("no_image", `No node of the cluster can fetch ${image}: ${faults[0]}`);
    // A node that cannot have it yet goes on trying; runs start on the others.
    if (isCurrent && ready > 0 && ready + faults.length >= wanted) return progress(100);
    await wait(pollMs);
  }
}

export function missingImage(type: string): DriverError {
  return new DriverError("no_image", `The cluster has no image of ${type}: KUBERNETES_IMAGES names it`);
}

const imageLabel = "berth.image";

function daemonSetOf(deps: PrepareDeps, type: string, image: string): V1DaemonSet {
  const name = objectName("image", createHash("sha256").update(`${deps.install}\0${type}`).digest("hex").slice(0, 16));
  const labels = { ...labelsOf(deps.install, "image"), [imageLabel]: name };
  const { restartPolicy: _, ...pod } = isolatedPod(deps);
  const resources = { requests: { cpu: "1m", memory: "4Mi" }, limits: { cpu: "100m", memory: "16Mi" } };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, labels },
    spec: {
      selector: { matchLabels: { [imageLabel]: name } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "100%" } },
      template: {
        metadata: { labels },
        spec: {
          ...pod,
          terminationGracePeriodSeconds: 0,
          containers: [{ ...isolatedContainer, name: "image", image, command: ["sleep", "infinity"], resources }],
        },
      },
    },
  };
}

/** Why nodes cannot fetch the image, one sentence for each such node. */
async function pullFaults(cluster: Cluster, labelSelector: string): Promise<readonly string[]> {
  const { items } = await cluster.withTimeout((signal) =>
    cluster.call<V1PodList>({ path: podsPath(cluster), query: { labelSelector }, signal }),
  );
  return items.flatMap((pod) => pullFault(pod) ?? []);
}

/** Why a pod's image cannot be fetched; undefined while nothing failed. */
function pullFault({ spec, status }: V1Pod): string | undefined {
  const { reason = "", message = "" } = status?.containerStatuses?.[0]?.state?.waiting ?? {};
  if (!/^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason)) return undefined;
  return `on ${spec?.nodeName}: ${message || reason}`;
}
