import { readdir } from "node:fs/promises";
import { hostname } from "node:os";
import { sql } from "kysely";
import { clockOffsetMs } from "../../database/clock-offset-ms.ts";
import type { Db } from "../../database/database.ts";
import { label } from "../../drivers/docker/containers/container-body.ts";
import { isEphemeralName } from "../../drivers/docker/containers/ephemeral-container.ts";
import { helperOutput, isFolderMissing } from "../../drivers/docker/containers/helper-container.ts";
import { findLeaks, findMissingRules } from "../../drivers/docker/firewall/start-firewall.ts";
import { readCatalogue } from "../../drivers/docker/images/image-catalogue.ts";
import { hasImage } from "../../drivers/docker/images/prepare-image.ts";
import type { ClusterMachine } from "../../drivers/kubernetes/open-added-cluster.ts";
import { missingImages } from "../../environments/hosts/missing-images.ts";
import { thisMachine } from "../../environments/hosts/register-host.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { imagesCommand, operatorCommand } from "../../text/operator-command.ts";
import { answering, type DockerHost } from "./open-docker-hosts.ts";
import type { Check } from "./run-checks.ts";

interface HostChecksDeps {
  readonly db: Db;
  readonly install: string;
  readonly hosts: readonly DockerHost[];
  readonly clusters: readonly ClusterMachine[];
  /** The folder of homes on this machine; undefined where it has none. */
  readonly homes: string | undefined;
  /** The file that says which images may be started. */
  readonly record: string;
}

/** Checks of the machines that environments run on. */
export function hostChecks(deps: HostChecksDeps): readonly Check[] {
  const { db, hosts, clusters } = deps;
  return [
    {
      kind: "engine_unreachable",
      what: "Docker Engines and clusters that cannot be used",
      remedy: `start the engine on that machine (systemctl start docker), or give the cluster what ${operatorCommand("hosts check HOST")} misses; the other checks of it run when it answers`,
      run: async () => [
        ...hosts.flatMap(({ id, answer }) => (typeof answer === "string" ? [`${id}: ${answer}`] : [])),
        ...(await Promise.all(clusters.map(clusterFault))).flat(),
      ],
    },
    {
      kind: "containers_orphaned",
      what: "Containers without an environment",
      remedy:
        "on that machine: docker rm -f CONTAINER; a running server removes those of environments after ten minutes",
      run: () => orphanContainers(deps),
    },
    {
      kind: "homes_missing",
      what: "Missing homes",
      remedy:
        "mount their disk or restore them from a backup before their environments are started again; where they are lost for good, environments terminate ID pays the unused time back. For those of ended environments nobody needs to act then: they leave this list by themselves",
      run: () => missingHomes(deps),
    },
    {
      kind: "homes_orphaned",
      what: "Home folders without an owner",
      remedy: "check what is in them, then move or delete them",
      run: () => orphanHomes(deps),
    },
    {
      kind: "images_missing",
      what: "Images that are missing",
      remedy: `${imagesCommand("TYPE")} on this machine; for another machine see docs/operate/hosts.md`,
      run: () => imagesMissing(deps),
    },
    {
      kind: "clock_wrong",
      what: "Clocks that differ from the database's by more than 30 seconds",
      remedy: "run a time service there, such as systemd-timesyncd or chrony",
      run: () => wrongClocks(db, hosts),
    },
    {
      kind: "firewall_leak",
      what: "Firewall leaks",
      remedy: `${operatorCommand("firewall apply")}, as root; on another machine what ${operatorCommand("hosts firewall HOST")} prints`,
      run: () => firewallLeaks(hosts),
    },
  ];
}

async function clusterFault({ host, check }: ClusterMachine): Promise<readonly string[]> {
  return await check().then(
    () => [],
    (error: Error) => [`${host.id}: ${error.message}`],
  );
}

/** Longer than any ephemeral container runs. */
const ephemeralSeconds = 600;

async function orphanContainers({ db, install, hosts }: HostChecksDeps): Promise<readonly string[]> {
  const known = async () => {
    const { rows } = await sql<{ id: string }>`
      select id from environments where status <> 'terminated' union select id from warm_runs`.execute(db);
    return rows.map(({ id }) => id);
  };
  // Read before and after listing: a container that starts or ends meanwhile is no orphan.
  const before = await known();
  const all = await Promise.all(
    answering(hosts).map(async ({ id, engine, answer }) => {
      const filters = { label: [`${label.install}=${install}`] };
      const containers = await engine.withTimeout((abortSignal) =>
        engine.docker.listContainers({ all: true, filters, abortSignal }),
      );
      return containers.map(({ Names, Labels, Created, State }) => ({
        ...{ host: id, name: Names[0]?.slice(1) ?? "", environment: Labels[label.environment] },
        ...{ state: State, seconds: answer.systemTime.getTime() / 1000 - Created },
      }));
    }),
  );
  const ids = new Set([...before, ...(await known())]);
  return all
    .flat()
    .filter(({ name, environment, seconds }) =>
      environment === undefined ? !isOwn(name, seconds) : !ids.has(environment),
    )
    .map(({ host, name, environment, state, seconds }) => {
      const whose =
        environment === undefined ? "belongs to no environment" : `its environment ${environment} does not exist`;
      return `${name} on ${host} is ${state} since ${formatDuration(seconds)}: ${whose}`;
    });
}

/** The server's own containers: the one for uploads of homes, and young ephemeral ones. */
function isOwn(name: string, seconds: number): boolean {
  return name.startsWith("homes-") || (isEphemeralName(name) && seconds < ephemeralSeconds);
}

interface HomeRow {
  readonly home: string;
  readonly host_id: string;
  readonly subdomain: string;
  /** Of an ended environment: how long its owner may ask for the files. */
  readonly delete_at: Date | null;
}

/**
 * Checks homes that were ready once and are not being deleted. Of ended environments only those whose files their owners
 * are still promised: nothing is kept of files that were missing before the end (`closeHome`).
 */
async function missingHomes(deps: HostChecksDeps): Promise<readonly string[]> {
  const { rows } = await sql<HomeRow>`
    select home, host_id, subdomain, delete_at from homes
      where used_at is not null and (delete_at is null or (delete_at > now() and missing_since is null))
    union select home, host_id, subdomain, null from environments where created_at is not null and status <> 'terminated'
    order by subdomain`.execute(deps.db);
  const folders = await homeFolders(deps);
  return rows
    .filter(({ home, host_id }) => folders.get(host_id)?.has(home) === false)
    .map(({ home, host_id, subdomain, delete_at }) => {
      const kept = delete_at ? `, which has ended; they are listed until ${formatInstant(delete_at)} UTC` : "";
      return `${home} on ${host_id}, the files of ${subdomain}${kept}`;
    });
}

async function orphanHomes(deps: HostChecksDeps): Promise<readonly string[]> {
  const folders = await homeFolders(deps);
  const { rows } = await sql<{ home: string; host_id: string }>`
    select home, host_id from homes union select home, host_id from warm_runs
    union select home, host_id from environments
    union select from_home, from_host from home_moves
    union select to_home, to_host from home_moves where to_home is not null`.execute(deps.db);
  const known = new Set(rows.map(({ home, host_id }) => `${host_id}/${home}`));
  return [...folders].flatMap(([host, names]) =>
    [...names].filter((name) => !known.has(`${host}/${name}`)).map((name) => `${name} on ${host}`),
  );
}

/** By host. Folders whose name begins with a dot are the server's own. */
async function homeFolders({
  hosts,
  homes,
  install,
}: HostChecksDeps): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const here = homes ? [[thisMachine, await localFolders(homes)] as const] : [];
  const others = answering(hosts).flatMap((host) =>
    host.homeRoot ? [remoteFolders(host, host.homeRoot, install).then((names) => [host.id, names] as const)] : [],
  );
  return new Map([...here, ...(await Promise.all(others))]);
}

async function localFolders(folder: string): Promise<ReadonlySet<string>> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return new Set(entries.filter((each) => each.isDirectory() && !each.name.startsWith(".")).map(({ name }) => name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Set();
    throw error;
  }
}

async function remoteFolders(
  { engine, firewall }: DockerHost,
  source: string,
  install: string,
): Promise<ReadonlySet<string>> {
  const script = "find /homes -mindepth 1 -maxdepth 1 -type d ! -name '.*' -printf '%f\\n'";
  const helperDeps = { engine, install, image: firewall.image };
  try {
    const text = await helperOutput(helperDeps, {
      script,
      folder: { source, target: "/homes" },
      capabilities: ["DAC_READ_SEARCH"],
    });
    return new Set(text.split("\n").filter((name) => name !== ""));
  } catch (error) {
    if (isFolderMissing(error)) return new Set();
    throw error;
  }
}

async function imagesMissing({ db, hosts, record }: HostChecksDeps): Promise<readonly string[]> {
  const others = (await missingImages(db)).map(
    ({ hostId, type, message }) => `${type} is not on ${hostId}${message && ` (${message})`}`,
  );
  if (hosts.length === 0) return others;
  const types = Object.entries(await readCatalogue(record));
  if (types.length === 0) return ["No image is built yet, so nothing can be launched"];
  const missing = answering(hosts).flatMap(({ id, engine }) =>
    types.map(async ([type, { reference, digest }]) =>
      (await hasImage(engine, reference ?? digest)) ? [] : [`${type} is not on ${id} (${reference ?? digest})`],
    ),
  );
  return [...others, ...(await Promise.all(missing)).flat()];
}

const toleranceMs = 30_000;

/** Time is the database's (P3): rentals end by it. */
async function wrongClocks(db: Db, hosts: readonly DockerHost[]): Promise<readonly string[]> {
  const aheadMs = await clockOffsetMs(db);
  const others = answering(hosts)
    .filter(({ homeRoot }) => homeRoot !== undefined)
    .map(({ id, answer }) => ({ machine: id, ms: answer.systemTime.getTime() - answer.askedAt + aheadMs }));
  return [{ machine: `this machine (${hostname()})`, ms: aheadMs }, ...others]
    .filter(({ ms }) => Math.abs(ms) > toleranceMs)
    .map(
      ({ machine, ms }) =>
        `The clock of ${machine} is ${Math.round(Math.abs(ms) / 1000)} s ${ms > 0 ? "ahead" : "behind"}`,
    );
}

async function firewallLeaks(hosts: readonly DockerHost[]): Promise<readonly string[]> {
  const each = answering(hosts).map(async ({ id, firewall }) => {
    const missing = (await findMissingRules(firewall)).map((rule) => `a rule is missing: ${rule}`);
    return [...missing, ...(await findLeaks(firewall))].map((leak) => `${id}: ${leak}`);
  });
  return (await Promise.all(each)).flat();
}
