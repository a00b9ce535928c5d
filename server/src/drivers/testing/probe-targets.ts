import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import type { V1Node, V1NodeList, V1Pod, V1PodSpec, V1Service } from "@kubernetes/client-node";
import { podsPath } from "../kubernetes/cluster/objects.ts";
import type { Cluster } from "../kubernetes/cluster/open-cluster.ts";
import { untilPod } from "../kubernetes/cluster/watch-pods.ts";
import { isolatedContainer, isolatedPod, labContainer, labPort, type Placement } from "../kubernetes/pods/pod-body.ts";

/** What no run may reach, or, with `isOpen`, every run. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly isOpen?: boolean;
}

/** Addresses that a node of the test's cluster gets for a while, as its own: no packet leaves it. */
const planted = {
  metadata: ["169.254.169.254", 80],
  "another private network": ["192.168.77.7", 443],
  "a mail server": ["203.0.113.7", 25],
  "a mail server over TLS": ["203.0.113.7", 465],
  "a mail server for clients": ["203.0.113.7", 587],
} as const;
/** A pod without policies, which probes too. */
export const outsider = "outsider";
const publicServer = { name: "a public server", host: "203.0.113.7", port: 443, isOpen: true };

/** Adds the addresses of its arguments to the node's loopback, answers at the ports, and takes them back at the end. */
const plant = `
import fcntl, signal, socket, struct, sys, threading
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
pairs = [each.rsplit(":", 1) for each in sys.argv[1:]]
names = {address: "lo:b%d" % n for n, address in enumerate(sorted({address for address, _ in pairs}))}
def change(name, request, value):
    fcntl.ioctl(control, request, struct.pack("16sH2s4s8s", name.encode(), socket.AF_INET, b"", socket.inet_aton(value), b""))
def end(*_):
    for name in names.values():
        fcntl.ioctl(control, 0x8914, struct.pack("16sH22s", name.encode(), 0, b""))
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
for address, name in names.items():
    change(name, 0x8916, address)
    change(name, 0x891C, "255.255.255.255")
def answer(listener):
    while True:
        listener.accept()[0].close()
for address, port in pairs:
    threading.Thread(target=answer, args=[socket.create_server((address, int(port)))], daemon=True).start()
print("listening", flush=True)
while True:
    signal.pause()
`;

/** The address of this machine on the way to a cluster's API server; on a test's cluster, pods see the same. */
export async function addressTowards({ server }: Pick<Cluster, "server">): Promise<string> {
  const { hostname, port } = new URL(server);
  const socket = connect(Number(port || 443), hostname);
  await once(socket, "connect");
  const { localAddress = "" } = socket;
  socket.destroy();
  return localAddress;
}

interface Beside extends Placement {
  readonly image: string;
  /** Where the probing run is. */
  readonly node: string;
  /** For the pods of this function; it has no Pod Security and no policy. */
  readonly namespace: string;
}

/**
 * Plants targets beside a run: a listener of this machine, another tenant's pod (`outsider`), addresses of its node. Adds the
 * cluster's own: API server, kubelets. The stack takes everything back.
 */
export async function plantTargets(
  stack: AsyncDisposableStack,
  cluster: Cluster,
  { image, node, namespace, ...placement }: Beside,
): Promise<readonly Target[]> {
  const beside = { ...cluster, namespace };
  const container = { name: labContainer, image, imagePullPolicy: "IfNotPresent" };
  const words = [...Object.values(planted), [publicServer.host, publicServer.port]].map((pair) => pair.join(":"));
  const plain: V1PodSpec = {
    ...isolatedPod(placement),
    terminationGracePeriodSeconds: 1,
    containers: [{ ...isolatedContainer, ...container, command: ["python3", "-m", "http.server", "8888"] }],
  };
  const securityContext = { runAsUser: 0, capabilities: { add: ["NET_ADMIN"] } };
  const ofNode: V1PodSpec = {
    ...{ restartPolicy: "Never", hostNetwork: true, nodeName: node, terminationGracePeriodSeconds: 5 },
    containers: [{ ...container, command: ["python3", "-c", plant, ...words], securityContext }],
  };
  const [host] = await Promise.all([startPod(stack, beside, outsider, plain), startPod(stack, beside, "node", ofNode)]);
  const machine = createServer((socket) => socket.on("error", () => {}).end()).listen(0, "0.0.0.0");
  await once(machine, "listening");
  stack.defer(() => void machine.close());
  const { port } = machine.address() as AddressInfo;
  return [
    { name: "another tenant's pod", host, port: labPort },
    { name: "the server's machine", host: await addressTowards(cluster), port },
    ...Object.entries(planted).map(([name, [address, open]]) => ({ name, host: address, port: open })),
    publicServer,
    ...(await ownTargets(cluster)),
  ];
}

/** Returns the pod's address once it runs. */
async function startPod(stack: AsyncDisposableStack, cluster: Cluster, name: string, spec: V1PodSpec): Promise<string> {
  const body = { metadata: { name }, spec };
  await cluster.withTimeout((signal) => cluster.call({ method: "POST", path: podsPath(cluster), body, signal }));
  const isGone = (pod: V1Pod | undefined) => pod === undefined;
  stack.defer(async () => {
    const path = podsPath(cluster, name);
    await cluster.withTimeout((signal) => cluster.call({ method: "DELETE", path, body: {}, signal }));
    await untilPod(cluster, name, isGone, AbortSignal.timeout(30_000));
  });
  const isRunning = (pod: V1Pod | undefined) => pod?.status?.phase === "Running";
  const pod = await untilPod(cluster, name, isRunning, AbortSignal.timeout(45_000));
  return pod?.status?.podIP ?? "";
}

const kubeletPort = 10_250;

/** API server and nodes, which are there already. */
async function ownTargets(cluster: Cluster): Promise<readonly Target[]> {
  const get = <T>(path: string) => cluster.withTimeout((signal) => cluster.call<T>({ path, signal }));
  const { spec } = await get<V1Service>("/api/v1/namespaces/default/services/kubernetes");
  const { items } = await get<V1NodeList>("/api/v1/nodes");
  const { hostname, port } = new URL(cluster.server);
  return [
    { name: "the API server by its Service", host: spec?.clusterIP ?? "", port: 443 },
    { name: "the API server", host: hostname, port: Number(port || 443) },
    ...items.filter(isReady).map(({ metadata, status }) => {
      const host = status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
      return { name: `the kubelet of ${metadata?.name}`, host, port: kubeletPort };
    }),
  ];
}

const isReady = ({ status }: V1Node) =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
