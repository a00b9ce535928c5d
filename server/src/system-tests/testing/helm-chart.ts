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

/** What `helm install` would make, hooks too. */
export function renderChart(values: Values, release = "berth"): Rendered {
  const { status, stdout, stderr } = helm("template", release, chart, "--kube-version", "1.34.0", values);
  if (status !== 0) return { objects: [], refusal: stderr };
  return { objects: (loadAllYaml(stdout) as (RenderedObject | null)[]).filter((each) => each !== null), refusal: "" };
}

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
