import { createHash } from "node:crypto";
import type { Cluster } from "./open-cluster.ts";

/** On every object of ours: two installations in one namespace never touch each other's. */
export const label = {
  install: "berth.install",
  /** `run`, `files` (work on the files of a home), `image` (fetches an image) or `home`. */
  part: "berth.part",
  /** The name of the claim that a pod mounts. */
  home: "berth.home",
} as const;

/** Exact values, which a label's alphabet and length would not hold. */
export const annotation = {
  environment: "berth.environment",
  generation: "berth.generation",
  spec: "berth.spec",
  gpus: "berth.gpus",
  home: "berth.home",
} as const;

export type Part = "run" | "files" | "image" | "home";

export const labelsOf = (install: string, part: Part) => ({ [label.install]: install, [label.part]: part });

/** The name of an object: lower case, at most 63 characters; other names are replaced by their hash. */
export function objectName(prefix: "env" | "home" | "image", name: string): string {
  const plain = `${prefix}-${name}`;
  if (/^[a-z0-9-]{1,62}[a-z0-9]$/.test(plain)) return plain;
  return `${prefix}-${createHash("sha256").update(name).digest("hex").slice(0, 40)}`;
}

const pathOf = (group: string, kind: string) => {
  return ({ namespace }: Pick<Cluster, "namespace">, name = "") =>
    `${group}/namespaces/${namespace}/${kind}${name && `/${name}`}`;
};

/** Paths of the API: all objects of a kind, or the one of a name. */
export const podsPath = pathOf("/api/v1", "pods");
export const claimsPath = pathOf("/api/v1", "persistentvolumeclaims");
export const eventsPath = pathOf("/api/v1", "events");
export const quotasPath = pathOf("/api/v1", "resourcequotas");
export const policiesPath = pathOf("/apis/networking.k8s.io/v1", "networkpolicies");
export const daemonSetsPath = pathOf("/apis/apps/v1", "daemonsets");
