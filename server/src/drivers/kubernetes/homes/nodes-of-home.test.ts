import type { V1NodeSelectorRequirement } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { claimsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { claimOf } from "../pods/pod-body.ts";
import { nodesOfHome } from "./nodes-of-home.ts";

const nodes = ["a", "b"].map((name) => ({
  metadata: { name, labels: { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "z" } },
}));

/** Names of the nodes that can mount a volume which asks for these labels. */
async function able(matchExpressions: readonly V1NodeSelectorRequirement[] | undefined) {
  const nodeAffinity = matchExpressions && { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  const claim = claimsPath({ namespace: "x" }, claimOf("h"));
  const call = async ({ path }: { path: string }) => ({
    spec: path === claim ? { volumeName: "v" } : { nodeAffinity },
  });
  const cluster = { namespace: "x", call } as unknown as Cluster;
  const found = await nodesOfHome({ cluster, nodes: async () => nodes }, "h", new AbortController().signal);
  return found?.map(({ metadata }) => metadata?.name);
}

test("G201 a volume of one node binds its home to it; one of a zone does not, because nodes may still join there", async () => {
  const rule = (key: string, ...values: string[]) => ({ key, operator: "In", values });
  expect(await able([rule("kubernetes.io/hostname", "a")])).toEqual(["a"]);
  expect(await able([rule("topology.kubernetes.io/zone", "z"), rule("kubernetes.io/hostname", "b")])).toEqual(["b"]);
  expect(await able([rule("topology.kubernetes.io/zone", "z")])).toBeUndefined();
  expect(await able([rule("topology.ebs.csi.aws.com/zone", "y")])).toBeUndefined();
  expect(await able(undefined)).toBeUndefined();
});
