import { z } from "zod";

/** A list of `name=value`, divided by commas. */
const pairs = (name: string, value: string) => new RegExp(`^(${name}=${value}(,${name}=${value})*)?$`);
const objectName = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
const network = "[0-9a-f.:]+/\\d{1,3}";

/** Settings of RUNTIME=kubernetes. */
export const kubernetesSettings = {
  KUBERNETES_CONFIG: z
    .string()
    .min(1)
    .optional()
    .describe("With RUNTIME=kubernetes: the kubeconfig file")
    .meta({ unset: "the service account of the server's own pod", example: "/etc/berth/kubeconfig" }),
  KUBERNETES_NAMESPACE: z
    .string()
    .regex(objectName, "such as berth")
    .default("berth")
    .describe("Namespace of the environments; it must exist"),
  KUBERNETES_IMAGES: z
    .string()
    .regex(pairs("[a-z0-9][a-z0-9-]*", "[^,=\\s]+"), "such as jupyter=registry.example/berth/jupyter@sha256:...")
    .default("")
    .describe("The image that the nodes fetch for each type")
    .meta({ example: "jupyter=registry.example/berth/jupyter:1.2" }),
  KUBERNETES_PULL_SECRET: z
    .string()
    .regex(objectName, "the name of a secret")
    .optional()
    .describe("Secret of the namespace with the registry's login")
    .meta({ unset: "none", example: "registry" }),
  KUBERNETES_STORAGE_CLASS: z
    .string()
    .regex(objectName, "the name of a storage class")
    .optional()
    .describe("Storage class of the volumes with owners' files")
    .meta({ unset: "the cluster's default", example: "fast" }),
  KUBERNETES_RUNTIME_CLASS: z
    .string()
    .regex(objectName, "the name of a runtime class")
    .optional()
    .describe("Runtime class of environments, such as nvidia, gvisor or kata")
    .meta({ unset: "the cluster's default", example: "gvisor" }),
  KUBERNETES_NODE_SELECTOR: z
    .string()
    .regex(pairs("[A-Za-z0-9][A-Za-z0-9./_-]*", "[A-Za-z0-9._-]*"), "such as pool=gpu")
    .default("")
    .describe("Labels of the nodes that environments run on")
    .meta({ example: "pool=gpu" }),
  KUBERNETES_AUTOSCALER: z
    .string()
    .regex(/^[1-9]\d{0,3}x([1-9]|[12]\d)(:[\w.-]+)?$/, "such as 6x8: six nodes of eight GPUs")
    .optional()
    .describe(
      "How many nodes with GPUs the cluster's autoscaler has at most, those that are there included, and the GPUs of each, with the label nvidia.com/gpu.product of new ones; their GPUs are rented before they are there",
    )
    .meta({ unset: "only nodes that are there are rented", example: "6x8:NVIDIA-H100-80GB-HBM3" }),
  KUBERNETES_MOVE_AFTER: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      "Seconds after which a node that gives no sign counts as switched off, and its environments start on another one",
    )
    .meta({ unset: "only when its Node object is gone or has the taint out-of-service", example: "300" }),
  KUBERNETES_CLIENTS: z
    .string()
    .regex(new RegExp(`^(${network}(,${network})*)?$`), "such as 192.0.2.0/28")
    .default("")
    .describe(
      "Networks from which a gateway and a worker outside the cluster reach environments; none: only the pods labelled app.kubernetes.io/name=berth",
    )
    .meta({ example: "192.0.2.0/28" }),
  KUBERNETES_CLOSED_NETWORKS: z
    .string()
    .regex(new RegExp(`^(${network}(,${network})*)?$`), "such as 2001:db8:1::/112")
    .default("")
    .describe(
      "Public networks of the cluster that no environment may reach, such as that of its services; private ones, and those of pods that the nodes name, are closed without it",
    )
    .meta({ example: "2001:db8:1::/112" }),
};

type KubernetesSettings = z.output<z.ZodObject<typeof kubernetesSettings>>;

/** How the driver gets them. */
export function readKubernetes(v: KubernetesSettings) {
  return {
    kubeconfig: v.KUBERNETES_CONFIG,
    namespace: v.KUBERNETES_NAMESPACE,
    images: pairsOf(v.KUBERNETES_IMAGES),
    pullSecret: v.KUBERNETES_PULL_SECRET,
    storageClass: v.KUBERNETES_STORAGE_CLASS,
    runtimeClass: v.KUBERNETES_RUNTIME_CLASS,
    nodeSelector: pairsOf(v.KUBERNETES_NODE_SELECTOR),
    autoscaler: autoscalerOf(v.KUBERNETES_AUTOSCALER),
    moveAfter: v.KUBERNETES_MOVE_AFTER,
    clients: networksIn(v.KUBERNETES_CLIENTS),
    closed: networksIn(v.KUBERNETES_CLOSED_NETWORKS),
  };
}

const networksIn = (text: string) => text.split(",").filter((each) => each !== "");

function autoscalerOf(text: string | undefined) {
  const [, nodes, gpus, product = ""] = text?.match(/^(\d+)x(\d+)(?::(.+))?$/) ?? [];
  return nodes === undefined ? undefined : { nodes: Number(nodes), gpus: Number(gpus), product };
}

function pairsOf(text: string): Readonly<Record<string, string>> {
  const all = text.split(",").filter((each) => each !== "");
  return Object.fromEntries(all.map((pair) => pair.split("=") as [string, string]));
}
