import { resolve } from "node:path";
import { plural } from "@berth/contract";
import type { Author } from "../../audit/record-act.ts";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import {
  type AddedCluster,
  labelText,
  namespaceIn,
  parseClusterOptions,
} from "../../drivers/kubernetes/added-cluster.ts";
import type { ClusterCheck } from "../../drivers/kubernetes/check-cluster.ts";
import { openAddedClusters } from "../../environments/hosts/added-clusters.ts";
import { installationOf } from "../../installation/installation.ts";
import type { Options } from "../parse-command.ts";
import { addCluster } from "./add-cluster.ts";

interface ClusterCommandDeps {
  readonly db: Db;
  readonly author: Author;
  readonly config: Config;
}

/** Checks a part of a cluster and adds it as a host (G207). Returns the text to print. Throws one sentence. */
export async function addClusterHost(
  deps: ClusterCommandDeps,
  id: string,
  address: string,
  options: Options,
): Promise<string> {
  const host = { id, namespace: namespaceIn(address), options: parseClusterOptions(options) };
  const checked = await checkOf(deps, host);
  await addCluster(deps.db, host, checked, deps.author);
  return `${reportOf(host, checked, deps.config)}\n${id} is added; a running server rents on it after its next start`;
}

/** The same check of a host that was added. */
export async function checkClusterHost(deps: Omit<ClusterCommandDeps, "author">, host: AddedCluster): Promise<string> {
  return reportOf(host, await checkOf(deps, host), deps.config);
}

async function checkOf({ db, config }: Omit<ClusterCommandDeps, "author">, host: AddedCluster): Promise<ClusterCheck> {
  const { id: install } = await installationOf(db);
  const opened = await openAddedClusters([host], { config, dataDir: resolve(config.dataDir), install });
  const [machine] = opened;
  if (!machine) throw new Error("no cluster was opened");
  return await machine.check();
}

function reportOf(
  { id, namespace, options: { nodeSelector, runtimeClass } }: AddedCluster,
  { nodes, gpus, warnings }: ClusterCheck,
  { slots }: Config,
): string {
  const models = [...new Set(gpus.map(({ model }) => model))].join(", ");
  const has =
    gpus.length > 0
      ? `${plural(gpus.length, "GPU")} (${models})`
      : `no GPU, so ${slots === undefined ? "up to 8 CPU slots" : plural(slots, "CPU slot")}`;
  const labels = labelText(nodeSelector);
  const where = `on ${plural(nodes.length, "node")}${labels && ` with ${labels}`}`;
  const under = runtimeClass ? `, under ${runtimeClass}` : "";
  const lines = [`${id} can be used: ${has} ${where}${under}; pods and files are in the namespace ${namespace}`];
  return [...lines, ...warnings.map((warning) => `WARNING: ${warning}`)].join("\n");
}
