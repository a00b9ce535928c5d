import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { recipeOf } from "@berth/contract";
import type { Config } from "../config/config.ts";
import type { Db } from "../database/database.ts";
import type { FirewallDeps } from "../drivers/docker/firewall/start-firewall.ts";
import { currentImage, imageRecord, replacedImages } from "../drivers/docker/images/image-catalogue.ts";
import { imagesOf } from "../drivers/docker/images/images-of.ts";
import type { RemoteDeps, RemoteMachine } from "../drivers/docker/open-remote.ts";
import type { Driver } from "../drivers/driver.ts";
import { claimHomes } from "../drivers/homes/claim-homes.ts";
import { findQuota } from "../drivers/homes/find-quota.ts";
import type { ClusterMachine } from "../drivers/kubernetes/open-added-cluster.ts";
import { usedHomes } from "../environments/homes/home-records.ts";
import { addedClusters, openAddedClusters } from "../environments/hosts/added-clusters.ts";
import { decommissionedDriver, decommissionedHostIds } from "../environments/hosts/decommissioned-hosts.ts";
import { joinWorkers, type Membership } from "../environments/hosts/join-workers.ts";
import { onlyWhereRunsAre } from "../environments/hosts/only-where-runs-are.ts";
import { registerHost, thisMachine } from "../environments/hosts/register-host.ts";
import type { AddedHost } from "../environments/hosts/start-registering.ts";
import { openRemoteHosts } from "../environments/hosts/start-remote-hosts.ts";
import type { Logger } from "../logging/create-logger.ts";
import { imagesCommand } from "../text/operator-command.ts";

interface MachinesDeps {
  readonly config: Config;
  readonly dataDir: string;
  /** The installation's id. */
  readonly install: string;
  readonly db: Db;
  readonly log: Logger;
}

export interface Machines {
  /** By host id. */
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly remotes: readonly RemoteMachine[];
  readonly clusters: readonly ClusterMachine[];
  /** Dependencies shared by all remote hosts. */
  readonly remote: RemoteDeps;
  /** Undefined without the role worker. */
  readonly membership: Membership | undefined;
}

/**
 * Opens the drivers of all hosts: this machine and the remote ones that the operator added. The caller closes `remotes` and
 * stops `membership`, after everything that uses the drivers.
 */
export async function openMachines(deps: MachinesDeps): Promise<Machines> {
  const { config, dataDir, install, db, log } = deps;
  const driver = await driverOf(deps);
  const isWorker = config.roles.has("worker");
  const membership = isWorker ? await joinWorkers({ db, machine: await driver.machineId(), log }) : undefined;
  if (isWorker && config.runtime !== "process") await endLeftProcesses(deps);
  // Only the worker registers the machine; an API just reads files and logs.
  if (isWorker) await registerHost(db, thisMachine, driver, config.slots);
  const folder = join(dataDir, "hosts");
  const images = imagesOf(config);
  const remote = {
    install,
    images,
    replaced: () => replacedImages(imageRecord(dataDir)),
    folder,
    sshAgent: config.sshAgent,
    log,
  };
  const remotes = await openRemoteHosts(db, remote);
  const clusters = await openAddedClusters(await addedClusters(db), { config, dataDir, install });
  const local = isWorker ? driver : onlyWhereRunsAre(db, driver);
  return { remote, remotes, clusters, membership, drivers: await driversOf(db, local, [...remotes, ...clusters]) };
}

export function localFirewall({ docker, dataDir }: Config, install: string, port: number): FirewallDeps {
  const image = () => currentImage("jupyter", imageRecord(dataDir));
  return { engine: docker, install, image, isHost: docker.reach === "published", port };
}

/** By host id; includes stubs for decommissioned hosts. */
async function driversOf(
  db: Db,
  local: Driver,
  added: readonly Pick<AddedHost, "host" | "driver">[],
): Promise<ReadonlyMap<string, Driver>> {
  return new Map([
    [thisMachine, local],
    ...added.map(({ host, driver }) => [host.id, driver] as const),
    ...(await decommissionedHostIds(db)).map((id) => [id, decommissionedDriver(id)] as const),
  ]);
}

async function driverOf(deps: MachinesDeps): Promise<Driver> {
  switch (deps.config.runtime) {
    case "fake":
      return await fakeOf(deps);
    case "docker":
      await claimOwnHomes(deps);
      return await dockerOf(deps);
    case "process":
      await claimOwnHomes(deps);
      return await processOf(deps);
    case "kubernetes":
      return await kubernetesOf(deps);
  }
}

async function fakeOf({ config: { fake }, dataDir }: MachinesDeps): Promise<Driver> {
  if (fake["engine"]) {
    const { fakeEngineDriver } = await import("../drivers/fake/fake-engine-driver.ts");
    return fakeEngineDriver(fake["engine"]);
  }
  const { fakeDriver } = await import("../drivers/fake/fake-driver.ts");
  const { fakeMachine } = await import("../drivers/fake/fake-machine.ts");
  return fakeDriver(fake, { machine: fakeMachine(dataDir) });
}

/** Only a worker owns the homes in the data folder. */
async function claimOwnHomes({ config, dataDir, install, db }: MachinesDeps): Promise<void> {
  if (config.roles.has("worker")) await claimHomes(join(dataDir, "homes"), install, () => usedHomes(db, thisMachine));
}

/** As every driver, loaded only where it is used: the client of the cluster's API takes 90 MB of memory. */
async function kubernetesOf({ config, install }: MachinesDeps): Promise<Driver> {
  const { kubernetesDriver } = await import("../drivers/kubernetes/kubernetes-driver.ts");
  const { images, ...cluster } = config.kubernetes;
  const driver = kubernetesDriver({
    ...cluster,
    install,
    images: async (type) => images[recipeOf(config.catalogue, type)],
  });
  // Fails at the start, not at the first launch, if there is no kubeconfig.
  await driver.machineId();
  return driver;
}

async function processOf({ config, dataDir: directory, install, log }: MachinesDeps): Promise<Driver> {
  const { findPython } = await import("../drivers/process/find-python.ts");
  const { readRuntime } = await import("../drivers/process/prepare-runtime.ts");
  const { processDriver } = await import("../drivers/process/process-driver.ts");
  const runtimes = resolve(config.runtimesDir ?? join(directory, "runtimes"));
  // Fails at the start, not at the first launch, if there is no Python.
  if (config.roles.has("worker") && !(await readRuntime(runtimes, "jupyter"))) await findPython();
  const recipe = (type: string) => recipeOf(config.catalogue, type);
  return processDriver({ directory, install, network: config.processNetwork, runtimes, recipeOf: recipe, log });
}

/** After a start with another RUNTIME, once no worker has the process driver any more. */
async function endLeftProcesses({ dataDir, install, log }: MachinesDeps): Promise<void> {
  if (!existsSync(join(dataDir, "environments", install))) return;
  const { endProcessRuns } = await import("../drivers/process/end-process-runs.ts");
  await endProcessRuns(await realpath(dataDir), install, log);
}

async function dockerOf({ config, dataDir, install, log }: MachinesDeps): Promise<Driver> {
  const { docker } = config;
  const record = imageRecord(dataDir);
  const { checkEngine } = await import("../drivers/docker/check-engine.ts");
  const { dockerDriver } = await import("../drivers/docker/docker-driver.ts");
  const warn = (text: string) => log.warn({ event: "host.unfit", hostId: thisMachine }, text);
  for (const text of await checkEngine(docker, docker)) warn(`${text}.`);
  if (!(await currentImage("jupyter", record)))
    warn(`no image is built yet, so nothing can be launched: ${imagesCommand()}.`);
  const homeRoot = join(dataDir, "homes");
  const found = await findQuota(homeRoot);
  if ("missing" in found) warn(`an environment can fill the whole disk: ${found.missing}.`);
  const quota = "missing" in found ? undefined : found;
  const publishAt = docker.reach === "published" ? "127.0.0.1" : undefined;
  return await dockerDriver({
    engine: docker,
    install,
    homeRoot,
    quota,
    images: imagesOf(config),
    recipeOf: (type) => recipeOf(config.catalogue, type),
    replaced: () => replacedImages(record),
    publishAt,
    log,
  });
}
