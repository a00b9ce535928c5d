import type { V1Node } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { podNetworks } from "./pod-networks.ts";

const node = (...podCIDRs: readonly string[]): V1Node => ({ spec: { podCIDRs: [...podCIDRs] } });

test("G354 the public networks of pods are those that the nodes name, without private ones", () => {
  const nodes = [node("10.244.1.0/24", "2600:1f18:2::/80"), node("10.244.0.0/24", "2600:1f18:1::/80"), node()];
  expect(podNetworks([...nodes, ...nodes])).toEqual(["2600:1f18:1::/80", "2600:1f18:2::/80"]);
  expect(podNetworks([node("fd00:1::/64", "100.64.0.0/24", "203.0.113.0/24")])).toEqual(["203.0.113.0/24"]);
  expect(podNetworks([{}, { spec: { podCIDR: "2600:1f18:3::/80" } }])).toEqual(["2600:1f18:3::/80"]);
});
