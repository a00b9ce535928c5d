import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { helperOutput } from "../../drivers/docker/containers/helper-container.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { operatorCommand, startCommand } from "../../text/operator-command.ts";
import { type ProcessSettings, runningProcesses, thisProgram } from "../process-registry.ts";
import { readCertificates } from "./certificates.ts";
import { differingSettings, nameOf } from "./differing-settings.ts";
import { type BackupSchedule, backupFaults } from "./late-backup.ts";
import { answering, type DockerHost } from "./open-docker-hosts.ts";
import type { Check } from "./run-checks.ts";

interface MachineChecksDeps {
  readonly db: Db;
  readonly install: string;
  readonly settings: ProcessSettings;
  readonly hosts: readonly DockerHost[];
  /** Whether the files of the installation are on this machine. */
  readonly isHere: boolean;
  readonly backup: BackupSchedule | undefined;
  /** Whether notifications of the database arrive. */
  readonly hears: () => Promise<boolean>;
}

/** Checks of mail, disks, certificates and the server's own processes. */
export function machineChecks(deps: MachineChecksDeps): readonly Check[] {
  const { db, settings } = deps;
  return [
    {
      kind: "mails_unsent",
      what: "Unsent mails",
      remedy: "check SMTP_URL and the mail server; queued mails are retried automatically",
      run: () => unsentMails(db, settings),
    },
    {
      kind: "disk_full",
      what: "Disks that are nearly full",
      remedy: "free space or add a larger disk: the database and running environments fail on a full one",
      run: () => fullDisks(deps),
    },
    {
      kind: "certificates_expiring",
      what: "Certificates that expire within 30 days",
      remedy:
        "one that expires: renew it where it is served, an engine's client's in DATA_DIR/hosts/HOST. One that cannot be read: look that the name leads here and the proxy in front answers",
      run: () => expiringCertificates(deps),
    },
    {
      kind: "versions_differ",
      what: "Processes of another version",
      remedy: "restart them from the same version as all others",
      run: () => otherVersions(db),
    },
    {
      kind: "settings_differ",
      what: "Settings that processes have differently",
      remedy: "give them the same values, and restart the ones that had others",
      run: async () => differingSettings(await runningProcesses(db)),
    },
    {
      kind: "roles_missing",
      what: "Roles that no process has",
      remedy: `start the server (${startCommand}), or the process that has that role in ROLES`,
      run: () => missingRoles(db),
    },
    {
      kind: "notifications_lost",
      what: "Notifications of the database that do not arrive",
      remedy: "name the database's own address in DATABASE_LISTEN_URL: a pooler in transaction mode delivers none",
      run: async () =>
        (await deps.hears()) ? [] : ["None arrives: what is revoked stays open for up to half a minute"],
    },
    {
      kind: "backup_late",
      what: "Backups that are late or failed",
      remedy: `${operatorCommand("backup FILE")}, or BACKUP in the settings; the log's lines backup.failed say why it did not`,
      run: () => backupFaults(db, deps.backup),
    },
  ];
}

interface MailRow {
  readonly count: number;
  readonly age: number;
  readonly tries: number;
  readonly last_error: string | null;
}

/** Without a mail server queued mails are read at /outbox, so their age is no fault. */
async function unsentMails(db: Db, { sendsMail }: ProcessSettings): Promise<readonly string[]> {
  const { rows } = await sql<MailRow>`
    select count(*) as count, extract(epoch from now() - min(created_at))::float8 as age, max(attempts) as tries, last_error
    from mails where status = 'queued' and (attempts >= 3 or (created_at < now() - interval '15 minutes' and (attempts > 0 or ${sendsMail})))
    group by last_error order by min(created_at)`.execute(db);
  const { rows: lapsed } = await sql<{ count: number }>`
    select count(*) as count from mails where status = 'lapsed' and ended_at > now() - interval '1 day'`.execute(db);
  const expired = lapsed[0]?.count ?? 0;
  return [
    ...rows.map(
      ({ count, age, tries, last_error }) =>
        `${count} waiting, the oldest for ${formatDuration(age)}, after up to ${tries} tries${last_error ? `: ${last_error}` : ""}`,
    ),
    ...(expired > 0 ? [`${expired} expired within the last day`] : []),
  ];
}

/** Below the first a disk is reported, below the second nothing more should be sold on it. */
const [lowPercent, fullPercent] = [10, 5];

interface DiskSpace {
  readonly where: string;
  readonly freeBytes: number;
  readonly allBytes: number;
}

async function fullDisks(deps: MachineChecksDeps): Promise<readonly string[]> {
  const { settings, hosts, install, isHere } = deps;
  const { dataDir } = settings;
  const storages = answering(hosts).flatMap(({ homeRoot, answer }) => (homeRoot ? [] : [answer.storage]));
  const local = isHere ? await localDisks([dataDir, join(dataDir, "homes"), ...storages]) : [];
  const remote = answering(hosts).flatMap((host) => (host.homeRoot ? [remoteDisk(host, host.homeRoot, install)] : []));
  return [...local, ...(await Promise.all(remote))].flatMap(({ where, freeBytes, allBytes }) => {
    const percent = (freeBytes / allBytes) * 100;
    if (percent >= lowPercent) return [];
    const text = `${percent.toFixed(1)} % of the file system of ${where} is free (${(freeBytes / 1e9).toFixed(1)} GB)`;
    return [percent < fullPercent ? `Only ${text}: sell nothing more on it` : text];
  });
}

/** One entry for each file system, named by the first folder on it. */
async function localDisks(folders: readonly string[]): Promise<readonly DiskSpace[]> {
  const disks = new Map<number, DiskSpace>();
  for (const where of folders) {
    const folder = await stat(where).catch(() => undefined);
    if (!folder || disks.has(folder.dev)) continue;
    const { bavail, blocks, bsize } = await statfs(where);
    disks.set(folder.dev, { where, freeBytes: bavail * bsize, allBytes: blocks * bsize });
  }
  return [...disks.values()];
}

async function remoteDisk({ id, engine, firewall }: DockerHost, source: string, install: string): Promise<DiskSpace> {
  const helper = { script: "df -Pk /homes | tail -n 1", folder: { source, target: "/homes" } };
  const [, all = "", , free = ""] = (await helperOutput({ engine, install, image: firewall.image }, helper))
    .trim()
    .split(/\s+/);
  return { where: `${source} on ${id}`, freeBytes: Number(free) * 1024, allBytes: Number(all) * 1024 };
}

const soonDays = 30;

/** One that cannot be read is a finding of its own. */
async function expiringCertificates(deps: MachineChecksDeps): Promise<readonly string[]> {
  return (await readCertificates(deps)).flatMap(({ what, end, trouble }) => {
    if (!end) return [`${what} could not be read: ${trouble}`];
    const days = (end.getTime() - Date.now()) / 86_400_000;
    if (days > soonDays) return [];
    const on = `on ${formatInstant(end)} UTC`;
    if (days < 0) return [`${what} expired ${on}`];
    return [days < 1 ? `${what} expires within a day, ${on}` : `${what} expires in ${Math.floor(days)} days, ${on}`];
  });
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

async function missingRoles(db: Db): Promise<readonly string[]> {
  const present = (await runningProcesses(db)).flatMap(({ roles }) => roles);
  const missing = ["api", "gateway", "worker"].filter((role) => !present.includes(role));
  return missing.length === 3
    ? ["No process of the server runs"]
    : missing.map((role) => `No process has the role ${role}`);
}
