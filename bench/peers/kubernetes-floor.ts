import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { podsPath } from "../../server/src/drivers/kubernetes/cluster/objects.ts";
import type { Cluster } from "../../server/src/drivers/kubernetes/cluster/open-cluster.ts";
import { labPort } from "../../server/src/drivers/kubernetes/pods/pod-body.ts";
import { probeReadiness } from "../../server/src/gateway/forward/probe-readiness.ts";

const pollMs = 100;

/**
 * The floor: one call creates the pod that `kubectl run` makes of this image, without a volume, a policy or limits, polled by
 * the product's own readiness probe. Returns milliseconds from the call to the first success.
 */
export async function barePod(cluster: Cluster, image: string, nodeSelector: Readonly<Record<string, string>>) {
  const name = `bare-${randomBytes(5).toString("hex")}`;
  const env = [{ name: "JUPYTER_TOKEN", value: name }];
  const container = { name, image, env, imagePullPolicy: "IfNotPresent" };
  const body = { metadata: { name, labels: { run: name } }, spec: { nodeSelector, containers: [container] } };
  const path = podsPath(cluster, name);
  const began = performance.now();
  await cluster.withTimeout((signal) => cluster.call({ method: "POST", path: podsPath(cluster), body, signal }));
  for (;;) {
    const { status } = await cluster.withTimeout((signal) =>
      cluster.call<{ status: { podIP?: string } }>({ path, signal }),
    );
    const endpoint = { host: status.podIP ?? "", port: labPort };
    if (status.podIP && (await probeReadiness(endpoint, name).catch(() => false))) break;
    await wait(pollMs);
  }
  const tookMs = performance.now() - began;
  const gone = { method: "DELETE", path, body: { gracePeriodSeconds: 0 } } as const;
  await cluster.withTimeout((signal) => cluster.call({ ...gone, signal }));
  return tookMs;
}
