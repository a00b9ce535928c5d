import type { V1NetworkPolicy, V1Node } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import type { Cluster } from "../cluster/open-cluster.ts";
import { keepPolicies } from "./keep-policies.ts";

test("G354 the network of a node that joins after the last start is closed, and nothing is applied twice", async () => {
  const nodes: V1Node[] = [{ spec: { podCIDRs: ["2600:1f18:1::/80"] } }];
  const applied: V1NetworkPolicy[] = [];
  let fault: Error | undefined;
  const call = async ({ body }: { body: V1NetworkPolicy }) => {
    if (fault) throw fault;
    applied.push(body);
  };
  const cluster = { namespace: "berth", serverNamespace: undefined, call } as unknown as Cluster;
  const { ensure, renew } = keepPolicies({
    ...{ cluster, install: "abc", clients: [], closed: ["203.0.113.0/24"] },
    nodes: async () => nodes,
  });
  const { signal } = new AbortController();
  const newest = () => {
    const [policy] = applied.splice(0);
    return policy?.spec?.egress?.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.except ?? []));
  };
  await renew(signal);
  expect(applied, "before the first run").toEqual([]);
  await ensure(signal);
  expect(newest()).toEqual(expect.arrayContaining(["203.0.113.0/24", "2600:1f18:1::/80"]));
  nodes.push({ spec: { podCIDRs: ["2600:1f18:2::/80"] } });
  fault = new Error("away");
  await expect(renew(signal)).rejects.toThrow("away");
  fault = undefined;
  await renew(signal);
  expect(newest()).toEqual(expect.arrayContaining(["2600:1f18:1::/80", "2600:1f18:2::/80"]));
  await renew(signal);
  await ensure(signal);
  expect(applied).toEqual([]);
});
