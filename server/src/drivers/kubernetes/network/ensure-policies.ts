import type { V1NetworkPolicy, V1NetworkPolicyPeer } from "@kubernetes/client-node";
import { closedNetworks, closedPorts } from "../../closed-networks.ts";
import { labelsOf, type Part, policiesPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { labPort } from "../pods/pod-body.ts";

export interface NetworkDeps {
  readonly cluster: Cluster;
  readonly install: string;
  /** Networks (CIDR) of gateways and workers outside the cluster; empty: the pods of Berth in the server's namespace. */
  readonly clients: readonly string[];
  /** Public networks of the cluster (CIDR) that no run may reach. */
  readonly closed: readonly string[];
}

/**
 * Applies the policies of an installation, again without a change: runs answer our gateways and workers only, and reach name
 * servers and public addresses only; other pods of ours reach nothing. The network of the cluster must enforce policies.
 */
export async function ensurePolicies(
  { cluster, install, clients, closed }: NetworkDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const part of ["run", "files", "image"] as const) {
    const body = policyOf(install, part, { clients, closed, serverNamespace: cluster.serverNamespace });
    const path = policiesPath(cluster, body.metadata?.name);
    await cluster.call({ method: "PATCH", path, query: { fieldManager: "berth", force: true }, body, signal });
  }
}

interface Networks extends Pick<NetworkDeps, "clients"> {
  readonly closed?: readonly string[];
  readonly serverNamespace?: string | undefined;
}

export function policyOf(
  install: string,
  part: Exclude<Part, "home">,
  { clients, closed = [], serverNamespace }: Networks,
): V1NetworkPolicy {
  const isRun = part === "run";
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: `berth-${part}-${install}`.toLowerCase(), labels: labelsOf(install, part) },
    spec: {
      podSelector: { matchLabels: labelsOf(install, part) },
      policyTypes: ["Ingress", "Egress"],
      ingress: isRun ? [{ ...from(clients, serverNamespace), ports: [{ protocol: "TCP", port: labPort }] }] : [],
      egress: isRun
        ? [
            { to: nameServers, ports: dns },
            { to: publicNetworks(closed), ports: openPorts() },
          ]
        : [],
    },
  };
}

/** The wire calls it `from`; the client's types call it `_from`. */
function from(
  clients: readonly string[],
  serverNamespace: string | undefined,
): { readonly from: readonly V1NetworkPolicyPeer[] } {
  const podSelector = { matchLabels: { "app.kubernetes.io/name": "berth" } };
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": serverNamespace ?? "" } };
  const servers = [{ podSelector, ...(serverNamespace !== undefined && { namespaceSelector }) }];
  return { from: clients.length > 0 ? clients.map((cidr) => ({ ipBlock: { cidr } })) : servers };
}

const nameServers: V1NetworkPolicyPeer[] = [
  { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } },
  // The name server of a node (NodeLocal DNSCache).
  { ipBlock: { cidr: "169.254.20.10/32" } },
];
const dns = ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 }));

function publicNetworks(closed: readonly string[]): V1NetworkPolicyPeer[] {
  const isIpv6 = (network: string) => network.includes(":");
  const ipv4 = [...closedNetworks.ipv4, ...closed.filter((each) => !isIpv6(each))];
  return [
    { ipBlock: { cidr: "0.0.0.0/0", except: ipv4 } },
    { ipBlock: { cidr: "::/0", except: [...closedNetworks.ipv6, ...closed.filter(isIpv6)] } },
  ];
}

/** A policy can only allow: the ranges between the closed ports. */
function openPorts() {
  const bounds = [0, ...closedPorts, 65_536];
  const ranges = bounds.slice(1).map((end, index) => ({ port: (bounds[index] ?? 0) + 1, endPort: end - 1 }));
  return [{ protocol: "UDP", port: 1, endPort: 65_535 }, ...ranges.map((range) => ({ protocol: "TCP", ...range }))];
}
