import type {
  V1Node,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PersistentVolume,
} from "@kubernetes/client-node";
import { orAbsent } from "../cluster/cluster-errors.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import type { ReadNodes } from "../nodes/cluster-facts.ts";
import { findClaim } from "./home-claims.ts";

export interface HomeNodesDeps {
  readonly cluster: Cluster;
  readonly nodes: ReadNodes;
}

/** The nodes that can mount the volume of a home; undefined: all, or those of its zone, or it has no volume yet. */
export async function nodesOfHome(
  { cluster, nodes }: HomeNodesDeps,
  home: string,
  signal: AbortSignal,
): Promise<readonly V1Node[] | undefined> {
  const volume = (await findClaim(cluster, home, signal))?.spec?.volumeName;
  if (!volume) return undefined;
  const path = `/api/v1/persistentvolumes/${volume}`;
  const found = await orAbsent(cluster.call<V1PersistentVolume>({ path, signal }));
  const terms = found?.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  // In its zone there may be more nodes soon: all that runs may use are in one.
  if (!terms || terms.every(isOfZone)) return undefined;
  return (await nodes(signal)).filter((node) => terms.some((term) => fits(node, term)));
}

const isOfZone = ({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm) =>
  matchFields.length === 0 && matchExpressions.every(({ key }) => /(zone|region)$/.test(key));

/** As the scheduler compares them: all requirements of a term. */
function fits({ metadata }: V1Node, { matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm): boolean {
  const fields = { "metadata.name": metadata?.name ?? "" };
  return (
    matchExpressions.every((each) => meets(metadata?.labels ?? {}, each)) &&
    matchFields.every((each) => meets(fields, each))
  );
}

function meets(labels: Readonly<Record<string, string>>, requirement: V1NodeSelectorRequirement): boolean {
  const { key, operator, values = [] } = requirement;
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return Number(value) > Number(values[0]);
    case "Lt":
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}
