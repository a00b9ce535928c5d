import type {
  V1Affinity,
  V1Container,
  V1NodeSelectorTerm,
  V1Pod,
  V1PodSpec,
  V1ResourceRequirements,
} from "@kubernetes/client-node";
import type { Spec } from "../../driver.ts";
import { specHash } from "../../spec-hash.ts";
import { unitLimits } from "../../unit-limits.ts";
import { annotation, label, labelsOf, objectName } from "../cluster/objects.ts";

/** The only container of a run's pod. */
export const labContainer = "lab";
/** JupyterLab's port inside every image. */
export const labPort = 8888;
export const homeInside = "/home/berth";
const runUser = 1000;
export const gpuResource = "nvidia.com/gpu";

/** Where pods of an installation may run, and how. */
export interface Placement {
  readonly install: string;
  /** Labels of the nodes that pods may run on. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Begins the names of its GPUs, where others of this cluster or another have nodes of the same names. */
  readonly slotPrefix?: string | undefined;
  /** Such as `nvidia`, `gvisor` or `kata`; undefined: the cluster's default. */
  readonly runtimeClass: string | undefined;
  /** Secret of the namespace with the registry's login. */
  readonly pullSecret: string | undefined;
}

export interface PodContext extends Placement {
  /** The image's reference, which the nodes can pull or have. */
  readonly image: string;
  /** The node of the leased GPUs; undefined without GPUs: any that fits. */
  readonly node: string | undefined;
  /** Host names of nodes whose GPUs are others' to lease: the run waits for a new one. */
  readonly except?: readonly string[];
}

export const claimOf = (home: string) => objectName("home", home);
export const podNameOf = (id: string) => objectName("env", id);

/** The pod of a run, with all limits and rights (docs/internals/runtime.md). It is admitted under Pod Security `restricted`. */
export function podBody(spec: Spec, context: PodContext): V1Pod {
  const { image } = context;
  return {
    metadata: {
      name: podNameOf(spec.id),
      labels: { ...labelsOf(context.install, "run"), [label.home]: claimOf(spec.home) },
      annotations: {
        [annotation.environment]: spec.id,
        [annotation.generation]: String(spec.generation),
        [annotation.spec]: specHash(spec),
        [annotation.gpus]: spec.gpus.join(","),
        [annotation.home]: spec.home,
        // An autoscaler that moves a pod to another node would end the run.
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
      },
    },
    spec: {
      ...isolatedPod(context),
      ...(context.node !== undefined && { affinity: onlyOn(context.node) }),
      ...(context.except?.length && { affinity: notOn(context.except) }),
      containers: [
        {
          ...isolatedContainer,
          name: labContainer,
          image,
          env: environmentOf(spec),
          ports: [{ containerPort: labPort }],
          resources: resourcesOf(spec),
          readinessProbe: { httpGet: { path: "/api", port: labPort }, periodSeconds: 10, timeoutSeconds: 5 },
          volumeMounts: [
            { name: "home", mountPath: homeInside },
            { name: "tmp", mountPath: "/tmp" },
            { name: "run", mountPath: "/run" },
            { name: "shm", mountPath: "/dev/shm" },
          ],
        },
      ],
      volumes: [
        { name: "home", persistentVolumeClaim: { claimName: claimOf(spec.home) } },
        // Counted as memory of the run.
        inMemory("tmp", Math.floor(spec.limits.memoryMb / 2)),
        inMemory("run", 16),
        inMemory("shm", spec.limits.shmMb),
      ],
    },
  };
}

/** By its name: the label of the host name may differ from it. */
export const onlyOn = (node: string) =>
  required({ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] });

/** By a label, because an autoscaler judges by the labels of a node that it may add. */
const notOn = (hosts: readonly string[]) =>
  required({ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "NotIn", values: [...hosts] }] });

function required(term: V1NodeSelectorTerm): V1Affinity {
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } };
}

/** Of every pod of ours. */
export function isolatedPod({ runtimeClass, pullSecret, nodeSelector }: Placement): Omit<V1PodSpec, "containers"> {
  return {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector,
    tolerations: [
      { key: gpuResource, operator: "Exists", effect: "NoSchedule" },
      // A node that gives no sign may go on: whoever knows that it is off ends its pods.
      ...["not-ready", "unreachable"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
      })),
    ],
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
    ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: runUser,
      runAsGroup: runUser,
      fsGroup: runUser,
      // Changing the owner of millions of files would delay each start.
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}

/** Of every container of ours. A tag may have been loaded into the nodes and be in no registry. */
export const isolatedContainer: Pick<V1Container, "imagePullPolicy" | "securityContext"> = {
  imagePullPolicy: "IfNotPresent",
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
};

const inMemory = (name: string, megabytes: number) => ({
  name,
  emptyDir: { medium: "Memory", sizeLimit: `${megabytes}Mi` },
});

/** The only secret inside is the run's own. Without "void" a default GPU runtime adds every GPU. */
function environmentOf(spec: Spec) {
  return [
    { name: "JUPYTER_TOKEN", value: spec.token },
    ...(gpuSlots(spec.gpus).length > 0 ? [] : [{ name: "NVIDIA_VISIBLE_DEVICES", value: "void" }]),
    ...(spec.withoutSettings ? [{ name: "WITHOUT_SETTINGS", value: "1" }] : []),
  ];
}

/** Share of its limits that a run of CPU slots reserves on its node. They are no merchandise (G37), so they overcommit. */
const slotShare = 16;

/** What a run of one GPU or CPU slot asks for. */
export const unitResources = (kind: "gpu" | "cpu") =>
  resourcesOf({ gpus: kind === "gpu" ? ["-gpu-1"] : [], limits: unitLimits });

interface Limited extends Pick<Spec, "gpus"> {
  readonly limits: Pick<Spec["limits"], "cpus" | "memoryMb">;
}

/** GPUs reserve the memory and a quarter of the cores that their run may use; bursts share the rest of the node. */
function resourcesOf({ gpus, limits: { cpus, memoryMb } }: Limited): V1ResourceRequirements {
  const count = gpuSlots(gpus).length;
  const share = count > 0 ? { cpu: 4, memory: 1 } : { cpu: slotShare, memory: slotShare };
  const devices = count > 0 && { [gpuResource]: String(count) };
  const request = {
    cpu: `${Math.ceil((cpus * 1000) / share.cpu)}m`,
    memory: `${Math.ceil(memoryMb / share.memory)}Mi`,
  };
  // Logs and small files outside the home; the kubelet ends a pod that writes more.
  const disk = { "ephemeral-storage": "1Gi" };
  return {
    requests: { ...request, ...devices, "ephemeral-storage": "64Mi" },
    limits: { cpu: String(cpus), memory: `${memoryMb}Mi`, ...disk, ...devices },
  };
}

/** The GPUs among leased ids, which are slots of nodes (`<node>-gpu-1`) or names of CPU slots. */
export function gpuSlots(leased: readonly string[]): readonly string[] {
  return leased.filter((id) => /-gpu-\d+$/.test(id));
}
