import type { V1Container, V1PodSpec } from "@kubernetes/client-node";
import { DriverError } from "../driver.ts";
import { podsPath } from "../kubernetes/cluster/objects.ts";
import type { Cluster } from "../kubernetes/cluster/open-cluster.ts";
import { isolatedContainer, isolatedPod, type Placement } from "../kubernetes/pods/pod-body.ts";

type Security = NonNullable<V1Container["securityContext"]>;
interface Change {
  readonly pod?: Partial<V1PodSpec>;
  readonly container?: Partial<V1Container>;
  readonly security?: Security;
}

/** What would take a pod of ours out of its container. Pod Security `restricted` refuses each. */
export const forbiddenPods: Readonly<Record<string, Change>> = {
  "a privileged container": { security: { privileged: true, allowPrivilegeEscalation: true } },
  "a folder of the node": { pod: { volumes: [{ name: "node", hostPath: { path: "/" } }] } },
  "the node's network": { pod: { hostNetwork: true } },
  "the node's processes": { pod: { hostPID: true } },
  "the node's shared memory": { pod: { hostIPC: true } },
  "a port of the node": { container: { ports: [{ containerPort: 8888, hostPort: 8888 }] } },
  "the user root": { security: { runAsUser: 0, runAsNonRoot: false } },
  "an added capability": { security: { capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] } } },
  "the runtime's default capabilities": { security: { capabilities: {} } },
  "more rights by a program's owner": { security: { allowPrivilegeEscalation: true } },
  "every system call": { security: { seccompProfile: { type: "Unconfined" } } },
  "no AppArmor profile": { security: { appArmorProfile: { type: "Unconfined" } } },
  "a domain of SELinux": { security: { seLinuxOptions: { type: "spc_t" } } },
};

/** Asks the API server to admit a changed pod of ours, without making it. Returns the refusal; undefined: it is admitted. */
export async function refusalOfPod(
  cluster: Cluster,
  placement: Placement,
  { pod, container, security }: Change,
): Promise<string | undefined> {
  const securityContext = { ...isolatedContainer.securityContext, ...security };
  const body = {
    metadata: { generateName: "forbidden-" },
    spec: {
      ...isolatedPod(placement),
      containers: [{ ...isolatedContainer, name: "lab", image: "image", ...container, securityContext }],
      ...pod,
    },
  };
  const call = { method: "POST", path: podsPath(cluster), query: { dryRun: "All" }, body } as const;
  try {
    await cluster.withTimeout((signal) => cluster.call({ ...call, signal }));
    return undefined;
  } catch (error) {
    if (error instanceof DriverError && error.code === "refused") return error.message;
    throw error;
  }
}
