import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { plural } from "@berth/contract";
import type { Author } from "../../audit/record-act.ts";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { checkRemote } from "../../drivers/docker/check-remote.ts";
import { helperOutput } from "../../drivers/docker/containers/helper-container.ts";
import { openEngine } from "../../drivers/docker/engine/engine.ts";
import { parseAddress, parseHomeRoot, parsePrivateAddress } from "../../drivers/docker/engine/remote-address.ts";
import { firewallCommands, nameserversIn } from "../../drivers/docker/firewall/firewall-rules.ts";
import { imageRecord, replacedImages } from "../../drivers/docker/images/image-catalogue.ts";
import { imagesOf } from "../../drivers/docker/images/images-of.ts";
import { openRemote, type RemoteDeps, type RemoteHost, type RemoteMachine } from "../../drivers/docker/open-remote.ts";
import { isClusterAddress } from "../../drivers/kubernetes/added-cluster.ts";
import { addedClusters } from "../../environments/hosts/added-clusters.ts";
import { remoteHosts } from "../../environments/hosts/start-remote-hosts.ts";
import { installationOf } from "../../installation/installation.ts";
import { commandLogger } from "../../logging/create-logger.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import type { Options } from "../parse-command.ts";
import { addHost, checkHostName, removeHost } from "./add-host.ts";
import { CapacityRefused } from "./capacity-refused.ts";
import { addClusterHost, checkClusterHost } from "./cluster-command.ts";

interface HostCommandDeps {
  readonly db: Db;
  readonly author: Author;
  readonly config: Config;
}

const defaultHomeRoot = "/var/lib/berth/homes";
const engineOptions = ["home-root", "reach"];
const clusterOptions = ["nodes", "runtime-class", "storage-class"];

/**
 * The commands about hosts that an operator adds, on other machines or in a cluster: add, check, firewall or remove. Returns the text to print. Throws
 * DriverError or CapacityRefused with one sentence.
 */
export async function hostCommand(
  deps: HostCommandDeps,
  verb: string,
  [id = "", ...more]: readonly string[],
  options: Options = {},
): Promise<string> {
  if (verb === "add") return await add(deps, id, more[0] ?? "", options);
  const cluster = verb === "remove" ? undefined : (await addedClusters(deps.db)).find((each) => each.id === id);
  if (cluster && verb === "check") return await checkClusterHost(deps, cluster);
  if (cluster) throw new CapacityRefused(`${id} is a cluster: the server applies its network policies by itself`);
  if (verb === "check") return await withHost(deps, await hostOf(deps.db, id), check);
  if (verb === "firewall") {
    const gateways = more.map(readGateway);
    return await withHost(deps, await hostOf(deps.db, id), (remote, own) => firewall(remote, own, gateways));
  }
  await removeHost(deps.db, id, deps.author);
  return `${id} is removed; a running server notices it at its next start`;
}

async function add(deps: HostCommandDeps, id: string, text: string, options: Options): Promise<string> {
  checkHostName(id);
  const isCluster = isClusterAddress(text);
  const foreign = (isCluster ? engineOptions : clusterOptions).find((name) => options[name] !== undefined);
  if (foreign) throw new CapacityRefused(`--${foreign} says nothing about ${text}`);
  if (isCluster) return await addClusterHost(deps, id, text, options);
  const address = parseAddress(text);
  const homeRoot = parseHomeRoot(options["home-root"] ?? defaultHomeRoot);
  const host = { id, address: address.url, homeRoot, reach: parsePrivateAddress(options["reach"], address) };
  return await withHost(deps, host, async (remote, own, config) => {
    const report = await check(remote, own, config);
    await addHost(deps.db, host, deps.author);
    return `${report}\n${id} is added; a running server rents on it after its next start`;
  });
}

async function hostOf(db: Db, id: string): Promise<RemoteHost> {
  const host = (await remoteHosts(db)).find((each) => each.id === id);
  if (!host)
    throw new CapacityRefused(
      `There is no host ${id} on another machine. ${operatorCommand("hosts list")} names them.`,
    );
  return host;
}

async function withHost<T>(
  { db, config }: Pick<HostCommandDeps, "db" | "config">,
  host: RemoteHost,
  work: (remote: RemoteMachine, own: RemoteDeps, config: Config) => Promise<T>,
): Promise<T> {
  const { id: install } = await installationOf(db);
  const folder = join(resolve(config.dataDir), "hosts");
  const own = {
    install,
    images: imagesOf(config),
    replaced: () => replacedImages(imageRecord(config.dataDir)),
    folder,
    sshAgent: config.sshAgent,
    log: commandLogger,
  };
  const remote = await openRemote(host, own);
  try {
    return await work(remote, own, config);
  } finally {
    await remote.close();
  }
}

async function check(remote: RemoteMachine, own: RemoteDeps, { docker, slots }: Config): Promise<string> {
  const { gpus, warnings } = await checkRemote(remote, own, docker);
  const { id, reach, homeRoot } = remote.host;
  const has =
    gpus.length > 0
      ? gpus.map((gpu) => `${gpu.model} (${gpu.id})`).join(", ")
      : `no GPU, so ${slots === undefined ? "up to 8 CPU slots" : plural(slots, "CPU slot")}`;
  const lines = [`${id} can be used: ${has}; runs are reached at ${reach}, homes are in ${homeRoot}`];
  return [...lines, ...warnings.map((warning) => `WARNING: ${warning}`)].join("\n");
}

/** Returns a script for root of that machine: it isolates the runs and lets only the gateways connect to them. */
async function firewall(
  { engine: address }: RemoteMachine,
  own: RemoteDeps,
  gateways: readonly string[],
): Promise<string> {
  const helperDeps = { engine: openEngine(address), install: own.install, image: () => own.images("jupyter") };
  const resolvers = nameserversIn(await helperOutput(helperDeps, { script: "cat /etc/resolv.conf" }));
  return firewallCommands(own.install, resolvers, gateways);
}

function readGateway(address: string): string {
  if (isIP(address) === 0) throw new CapacityRefused(`${address} is not an IPv4 or IPv6 address of a gateway`);
  return address;
}
