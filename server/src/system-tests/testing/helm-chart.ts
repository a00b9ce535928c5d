import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type KubernetesObject, loadAllYaml } from "@kubernetes/client-node";
import { testKubeconfig } from "../../drivers/testing/kubernetes-machine.ts";

const chart = fileURLToPath(new URL("../../../../deploy/helm/berth", import.meta.url));
/** Of this run, on a cluster that others use too. */
export const namespace = `berth-chart-${randomBytes(4).toString("hex")}`;

/** Why the chart cannot be rendered here; empty where it can. */
export const whyNoHelm = helm("version").status === 0 ? "" : " (skipped: there is no helm here)";

/** The least that an operator gives. */
export const leastValues = {
  image: { repository: "registry.example/berth" },
  settings: {
    APP_URL: "https://berth.example",
    ENV_HOST: "berth-run.example",
    KUBERNETES_IMAGES: "jupyter=registry.example/berth/jupyter:1.2",
    PAYMENTS: "embedded",
  },
};

type Values = Readonly<Record<string, unknown>>;

interface Rendered {
  /** Empty when Helm refused. */
  readonly objects: readonly RenderedObject[];
  readonly refusal: string;
}

/** Read by tests as it is: any kind. */
export type RenderedObject = KubernetesObject & {
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  readonly [field: string]: any;
};

/** Everything switched on. */
export const fullValues = {
  image: { repository: "registry.example/berth", tag: "0.2.0-test", pullSecrets: ["registry"] },
  settings: {
    ...leastValues.settings,
    TRUST_PROXY: "10.0.0.0/8",
    MAIL_FROM: "a@b.example",
    REQUESTS_PER_MINUTE: 1000000,
    SUPPORT_ONLINE: false,
  },
  secrets: {
    SMTP_URL: { name: "mail", key: "url" },
    AWS_SECRET_ACCESS_KEY: { name: "backups", key: "secret" },
  },
  hosts: {
    knownHosts: { name: "berth-hosts", key: "known_hosts" },
    secrets: {
      "gpu-1": { name: "berth-hosts", keys: ["key"] },
      "gpu-2": { name: "tls", keys: ["ca.pem", "cert.pem", "key.pem"] },
      a100: { name: "clusters", keys: ["kubeconfig"] },
    },
  },
  catalogue: { currencies: [{ code: "USD" }] },
  roles: { gateway: { replicas: 3 } },
  autoscaling: { enabled: true },
  ingress: { enabled: true, className: "nginx", annotations: { "a.example/b": "1" }, tlsSecret: "berth-tls" },
  httpRoute: { enabled: true, parentRefs: [{ name: "edge", namespace: "edge" }] },
  networkPolicy: { from: [{ namespaceSelector: {} }], metricsFrom: [{ namespaceSelector: {} }] },
  serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
  podAnnotations: { "example/restarted": "1" },
  nodeSelector: { pool: "services" },
  tolerations: [{ key: "services", operator: "Exists" }],
};

/** What `helm install` would make, hooks too. */
export function renderChart(values: Values, release = "berth"): Rendered {
  const { status, stdout, stderr } = helm("template", release, chart, "--kube-version", "1.34.0", values);
  if (status !== 0) return { objects: [], refusal: stderr };
  return { objects: (loadAllYaml(stdout) as (RenderedObject | null)[]).filter((each) => each !== null), refusal: "" };
}

export const ofKind = (objects: readonly RenderedObject[], kind: string) =>
  objects.filter((each) => each.kind === kind);
/** Deployments and the migrating job. */
export const withPods = (objects: readonly RenderedObject[]) => [
  ...ofKind(objects, "Deployment"),
  ...ofKind(objects, "Job"),
];

/** Tries an installation in the cluster of TEST_KUBECONFIG, which the cluster checks and which makes nothing. */
export function installChart(values: Values): { readonly status: number | null; readonly refusal: string } {
  const cluster = ["--kubeconfig", testKubeconfig];
  const { status, stderr } = helm("install", "berth", chart, "--dry-run=server", ...cluster, values);
  return { status, refusal: status === 0 ? "" : stderr };
}

/** What `helm lint` says, and how it ends. */
export function lintChart(values: Values): { readonly status: number | null; readonly stdout: string } {
  return helm("lint", "--strict", chart, values);
}

function helm(...words: readonly (string | Values)[]) {
  const values = words.find((word) => typeof word === "object");
  const named = words.filter((word) => typeof word === "string");
  const given = values ? ["--namespace", namespace, "--values", "-"] : [];
  return spawnSync("helm", [...named, ...given], { encoding: "utf8", input: values && JSON.stringify(values) });
}
