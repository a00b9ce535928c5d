import { hostname } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { hearsNotifications } from "../../database/hears-notifications.ts";
import { imageRecord, replacedImages } from "../../drivers/docker/images/image-catalogue.ts";
import { imagesOf } from "../../drivers/docker/images/images-of.ts";
import { addedClusters, openAddedClusters } from "../../environments/hosts/added-clusters.ts";
import { installationOf } from "../../installation/installation.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { type ProcessSettings, runningProcesses, settingsOf } from "../process-registry.ts";
import { connectionOf, witnessOf } from "../with-database.ts";
import { absentGpus } from "./absent-gpus.ts";
import { askProvider } from "./ask-provider.ts";
import { auditCheck } from "./audit-check.ts";
import { hostChecks } from "./host-checks.ts";
import { installationNotes } from "./installation-notes.ts";
import { machineChecks } from "./machine-checks.ts";
import { miningCheck } from "./mining-check.ts";
import { moneyChecks } from "./money-checks.ts";
import { openDockerHosts } from "./open-docker-hosts.ts";
import { type Finding, runChecks } from "./run-checks.ts";
import { unpreparedTypes } from "./unprepared-types.ts";
import { waitingStarts } from "./waiting-starts.ts";

/** Runs the checks of money and capacity. */
export async function examine(db: Db): Promise<readonly Finding[]> {
  return await runChecks(moneyChecks(db));
}

export interface Diagnosis {
  /** Sentences about what limits the checks. */
  readonly notes: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Runs every check (docs/internals/reliability.md) with the settings of the running server. Changes nothing but
 * the row that says how far the audit was verified.
 */
export async function diagnose(db: Db, config: Config): Promise<Diagnosis> {
  const { settings, isHere, notes } = await settingsInUse(db, config);
  const { id: install } = await installationOf(db);
  const { runtime, dataDir } = settings;
  const keys = { install, folder: join(dataDir, "hosts"), sshAgent: config.sshAgent, log: silentLogger };
  const record = imageRecord(dataDir);
  const deps = { ...keys, images: imagesOf({ ...config, dataDir }), replaced: () => replacedImages(record) };
  await using opened = await openDockerHosts(db, { ...settings, isHere }, deps);
  const { hosts } = opened;
  const clusters = await openAddedClusters(await addedClusters(db), { config, dataDir, install });
  const homesHere = isHere && runtime !== "fake" && runtime !== "kubernetes";
  const homes = homesHere ? join(dataDir, "homes") : undefined;
  const hears = () => hearsNotifications(db, connectionOf(config));
  const checks = [
    ...moneyChecks(db, () => askProvider(config)),
    ...hostChecks({ db, install, hosts, clusters, homes, record }),
    miningCheck(db),
    ...machineChecks({ db, install, settings, hosts, isHere, backup: config.backup, hears }),
    auditCheck(db, witnessOf({ ...config, dataDir })),
  ];
  const { catalogue, catalogueFile } = config;
  const unprepared = await unpreparedTypes(db, catalogue);
  const absent = catalogueFile === undefined ? [] : await absentGpus(db, catalogue);
  const waiting = await waitingStarts(db);
  const own = await installationNotes(db, settings, isHere);
  return { notes: [...notes, ...own, ...unprepared, ...absent, ...waiting], findings: await runChecks(checks) };
}

interface InUse {
  readonly settings: ProcessSettings;
  readonly notes: readonly string[];
  /** Whether the worker, its files and its local engine are on this machine. */
  readonly isHere: boolean;
}

const names: Readonly<Record<Exclude<keyof ProcessSettings, "defaults" | "digests">, string>> = {
  runtime: "RUNTIME",
  docker: "DOCKER_HOST and DOCKER_REACH",
  dataDir: "DATA_DIR",
  port: "PORT",
  appUrl: "APP_URL",
  envHost: "ENV_HOST",
  sendsMail: "SMTP_URL",
};

/** Prefers the worker's settings, of several the one here: doctor may have been started without RUNTIME or APP_URL. */
async function settingsInUse(db: Db, config: Config): Promise<InUse> {
  const own = settingsOf(config);
  const workers = (await runningProcesses(db)).filter(({ roles }) => roles.includes("worker"));
  const worker = workers.find((each) => each.hostName === hostname()) ?? workers[0];
  if (!worker) return { settings: own, notes: [], isHere: true };
  const { settings, hostName } = worker;
  const isHere = hostName === hostname();
  const keys = Object.keys(names) as (keyof typeof names)[];
  const differing = keys.filter((key) => !isDeepStrictEqual(own[key], settings[key]));
  const notes = [
    ...(differing.length > 0
      ? [`These settings are taken from the running server: ${differing.map((key) => names[key]).join(", ")}.`]
      : []),
    // A worker in a pod has no machine of its own: what it sells is the cluster's.
    ...(isHere || settings.runtime === "kubernetes"
      ? []
      : [`The worker runs on ${hostName}: run doctor there too, for its engine, its files and its disks.`]),
  ];
  return { settings, notes, isHere };
}

const mostRows = 20;

/** Formats a diagnosis for people: a line for each check, its findings, and the remedy. */
export function reportOf({ notes, findings }: Diagnosis): string {
  const lines = findings.flatMap(({ what, remedy, rows }) => [
    `${what}: ${rows.length}`,
    ...rows.slice(0, mostRows).map((row) => `  ${row}`),
    ...(rows.length > mostRows ? [`  and ${rows.length - mostRows} more: doctor --json names all`] : []),
    ...(rows.length > 0 ? [`  Remedy: ${remedy}.`] : []),
  ]);
  return [...notes, ...lines].join("\n");
}
