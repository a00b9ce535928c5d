import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile, stat, statfs } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { helperOutput } from "../../drivers/docker/containers/helper-container.ts";
import { parseAddress } from "../../drivers/docker/engine/remote-address.ts";
import { remoteHosts } from "../../environments/hosts/start-remote-hosts.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { type Process, type ProcessSettings, runningProcesses, thisProgram } from "../process-registry.ts";
import { answering, type DockerHost } from "./open-docker-hosts.ts";
import type { Check } from "./run-checks.ts";

interface Parts {
  readonly db: Db;
  readonly install: string;
  readonly settings: ProcessSettings;
  readonly hosts: readonly DockerHost[];
  /** Whether the files of the installation are on this machine. */
  readonly isHere: boolean;
}

/** What an operator must know about mail, disks, certificates and the processes of the product themselves. */
export function machineChecks(parts: Parts): readonly Check[] {
  const { db, settings } = parts;
  return [
    {
      what: "Mails that do not go",
      remedy: "look at SMTP_URL and at the mail server; what is still worth sending is tried again by itself",
      look: () => unsentMails(db, settings),
    },
    {
      what: "Disks that are nearly full",
      remedy: "make room or a larger disk: the database and running environments fail on a full one",
      look: () => fullDisks(parts),
    },
    {
      what: "Certificates that end within 30 days",
      remedy: "renew them where they are served; those of an engine's client are files of DATA_DIR/hosts/HOST",
      look: () => endingCertificates(parts),
    },
    {
      what: "Processes of another version",
      remedy: "start them again from the same version as all others",
      look: () => otherVersions(db),
    },
    {
      what: "Roles that no process has",
      remedy: "start the server (npm start), or the process that has that role in ROLES",
      look: () => missingRoles(db),
    },
  ];
}

interface MailRow {
  readonly count: number;
  readonly age: number;
  readonly tries: number;
  readonly last_error: string | null;
}

/** Without a mail server they are read at /outbox, and wait for nobody. */
async function unsentMails(db: Db, { sendsMail }: ProcessSettings): Promise<readonly string[]> {
  const { rows } = await sql<MailRow>`
    select count(*) as count, extract(epoch from now() - min(created_at))::float8 as age, max(attempts) as tries, last_error
    from mails where status = 'queued' and (attempts >= 3 or (created_at < now() - interval '15 minutes' and (attempts > 0 or ${sendsMail})))
    group by last_error order by min(created_at)`.execute(db);
  const { rows: lapsed } = await sql<{ count: number }>`
    select count(*) as count from mails where status = 'lapsed' and ended_at > now() - interval '1 day'`.execute(db);
  const given = lapsed[0]?.count ?? 0;
  return [
    ...rows.map(
      ({ count, age, tries, last_error }) =>
        `${count} waiting, the oldest for ${formatDuration(age)}, after up to ${tries} tries${last_error ? `: ${last_error}` : ""}`,
    ),
    ...(given > 0 ? [`${given} given up within the last day`] : []),
  ];
}

/** Below the first it is said, below the second nothing more should be sold. */
const [lowPercent, fullPercent] = [10, 5];

interface Room {
  readonly where: string;
  readonly freeBytes: number;
  readonly allBytes: number;
}

async function fullDisks({ settings: { dataDir }, hosts, install, isHere }: Parts): Promise<readonly string[]> {
  const storages = answering(hosts).flatMap(({ homeRoot, answer }) => (homeRoot ? [] : [answer.storage]));
  const here = isHere ? await roomHere([dataDir, join(dataDir, "homes"), ...storages]) : [];
  const there = answering(hosts).flatMap((host) => (host.homeRoot ? [roomThere(host, host.homeRoot, install)] : []));
  return [...here, ...(await Promise.all(there))].flatMap(({ where, freeBytes, allBytes }) => {
    const percent = (freeBytes / allBytes) * 100;
    if (percent >= lowPercent) return [];
    const words = `${percent.toFixed(1)} % of the file system of ${where} is free (${(freeBytes / 1e9).toFixed(1)} GB)`;
    return [percent < fullPercent ? `Only ${words}: sell nothing more on it` : words];
  });
}

/** One of each file system, by the first of the folders that is on it. */
async function roomHere(folders: readonly string[]): Promise<readonly Room[]> {
  const rooms = new Map<number, Room>();
  for (const where of folders) {
    const found = await stat(where).catch(() => undefined);
    if (!found || rooms.has(found.dev)) continue;
    const { bavail, blocks, bsize } = await statfs(where);
    rooms.set(found.dev, { where, freeBytes: bavail * bsize, allBytes: blocks * bsize });
  }
  return [...rooms.values()];
}

async function roomThere({ id, engine, firewall }: DockerHost, source: string, install: string): Promise<Room> {
  const helper = { script: "df -Pk /homes | tail -n 1", folder: { source, target: "/homes" } };
  const [, all = "", , free = ""] = (await helperOutput({ engine, install, image: firewall.image }, helper))
    .trim()
    .split(/\s+/);
  return { where: `${source} on ${id}`, freeBytes: Number(free) * 1024, allBytes: Number(all) * 1024 };
}

const soonDays = 30;

/** As they are served, and the files that an engine is shown. One that cannot be read keeps none of the others. */
async function endingCertificates(parts: Parts): Promise<readonly string[]> {
  const looks = [...served(parts.settings), ...(await ofHosts(parts))];
  const ends = await Promise.all(
    looks.map(async ({ what, read }) => {
      try {
        return { what, end: await read() };
      } catch (error) {
        return { what, trouble: (error as Error).message };
      }
    }),
  );
  return ends.flatMap(({ what, end, trouble }) => {
    if (!end) return [`${what} could not be read: ${trouble}`];
    const days = (end.getTime() - Date.now()) / 86_400_000;
    if (days > soonDays) return [];
    const on = `on ${formatInstant(end)} UTC`;
    if (days < 0) return [`${what} ended ${on}`];
    return [days < 1 ? `${what} ends within a day, ${on}` : `${what} ends in ${Math.floor(days)} days, ${on}`];
  });
}

interface CertificateLook {
  readonly what: string;
  readonly read: () => Promise<Date>;
}

/** Of the app, and of the environments' subdomains, which have one of their own. */
function served({ appUrl, envHost }: ProcessSettings): readonly CertificateLook[] {
  const { protocol, hostname, port } = new URL(appUrl);
  if (protocol !== "https:") return [];
  const names = [hostname.replace(/^\[|\]$/g, ""), ...(envHost === "localhost" ? [] : [`doctor.${envHost}`])];
  return names.map((host) => ({
    what: `The certificate of ${host}`,
    read: () => endOfServed({ host, port: Number(port || 443), ...(isIP(host) === 0 && { servername: host }) }),
  }));
}

async function ofHosts({ db, settings: { dataDir }, isHere }: Parts): Promise<readonly CertificateLook[]> {
  const hosts = isHere ? await remoteHosts(db) : [];
  return hosts.flatMap(({ id, address }) => {
    const { kind, host, port } = parseAddress(address);
    if (kind === "ssh") return [];
    const file = (name: string) => readFile(join(dataDir, "hosts", id, name), "utf8");
    const keys = async () => ({ ca: await file("ca.pem"), cert: await file("cert.pem"), key: await file("key.pem") });
    return [
      ...["ca.pem", "cert.pem"].map((name) => ({
        what: `${name} for ${id}`,
        read: async () => new Date(new X509Certificate(await file(name)).validTo),
      })),
      {
        what: `The certificate of the engine of ${id}`,
        read: async () => await endOfServed({ host, port, ...(await keys()) }),
      },
    ];
  });
}

const answerMs = 8_000;

/** Whether it is trusted is for others to say: here only its end counts. */
async function endOfServed(options: { readonly host: string; readonly port: number; readonly servername?: string }) {
  const socket = connect({ ...options, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(answerMs) });
    return new Date(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}

async function otherVersions(db: Db): Promise<readonly string[]> {
  const own = await thisProgram();
  return (await runningProcesses(db))
    .filter(({ version, migration }) => version !== own.version || migration !== own.migration)
    .map(
      (each) =>
        `${nameOf(each)} is ${each.version} with ${each.migration}; this is ${own.version} with ${own.migration}`,
    );
}

const nameOf = ({ roles, hostName, pid }: Process) => `${roles.join(", ")} on ${hostName} (process ${pid})`;

async function missingRoles(db: Db): Promise<readonly string[]> {
  const present = (await runningProcesses(db)).flatMap(({ roles }) => roles);
  const missing = ["api", "gateway", "worker"].filter((role) => !present.includes(role));
  return missing.length === 3
    ? ["No process of the server runs"]
    : missing.map((role) => `No process has the role ${role}`);
}
