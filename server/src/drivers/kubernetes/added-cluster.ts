import type { ClusterOptions } from "../../database/json-columns.ts";
import { DriverError } from "../driver.ts";

/** A part of a cluster that an operator added as a host (G207). */
export interface AddedCluster {
  readonly id: string;
  /** Holds its runs and their files. */
  readonly namespace: string;
  readonly options: ClusterOptions;
}

const scheme = "kubernetes://";
const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const objectName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const nodeLabel = /^([A-Za-z0-9][A-Za-z0-9./_-]*)=([A-Za-z0-9._-]*)$/;

export const isClusterAddress = (address: string) => address.startsWith(scheme);
export const clusterAddress = (namespace: string) => `${scheme}${namespace}`;

/** The namespace in `kubernetes://NAMESPACE`. Throws `refused` in one sentence. */
export function namespaceIn(address: string): string {
  const namespace = address.slice(scheme.length);
  if (isClusterAddress(address) && namespaceName.test(namespace)) return namespace;
  throw refused(`${address} is no part of a cluster: kubernetes://NAMESPACE`);
}

/** What the options of `hosts add` say. Throws `refused` in one sentence. */
export function parseClusterOptions(given: Readonly<Record<string, string>>): ClusterOptions {
  const labels = (given["nodes"] ?? "").split(",").filter((each) => each !== "");
  const nodeSelector = Object.fromEntries(labels.map(parseLabel));
  const { "runtime-class": runtimeClass, "storage-class": storageClass } = given;
  for (const name of [runtimeClass, storageClass])
    if (name !== undefined && !objectName.test(name)) throw refused(`${name} is not the name of a class`);
  return { nodeSelector, ...(runtimeClass && { runtimeClass }), ...(storageClass && { storageClass }) };
}

function parseLabel(text: string): [string, string] {
  const [, name, value] = text.match(nodeLabel) ?? [];
  if (name === undefined || value === undefined) throw refused(`${text} is not a label of nodes, such as pool=a100`);
  return [name, value];
}

export const labelText = (nodeSelector: ClusterOptions["nodeSelector"]) =>
  Object.entries(nodeSelector)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");

function refused(message: string): DriverError {
  return new DriverError("refused", message);
}
