import { BlockList } from "node:net";
import type { V1Node } from "@kubernetes/client-node";
import { closedNetworks } from "../../closed-networks.ts";

/**
 * The networks of a cluster's pods, as its nodes name them, that are not closed as private ones: in a cluster of two families pods
 * may have public addresses of IPv6. In rising order.
 */
export function podNetworks(nodes: readonly V1Node[]): readonly string[] {
  const all = nodes.flatMap(({ spec }) => spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []));
  return [...new Set(all)].filter((network) => !isClosed(network)).toSorted();
}

const familyOf = (network: string) => (network.includes(":") ? "ipv6" : "ipv4");

const closed = new BlockList();
for (const network of [...closedNetworks.ipv4, ...closedNetworks.ipv6]) {
  const [address = "", prefix] = network.split("/");
  closed.addSubnet(address, Number(prefix), familyOf(network));
}

const isClosed = (network: string) => closed.check(network.split("/")[0] ?? "", familyOf(network));
