import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sql } from "kysely";
import { type Loop, startInterval } from "../async/start-interval.ts";
import { type Config, version } from "../config/config.ts";
import { speakingDefaults } from "../config/speaking-defaults.ts";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import type { Logger } from "../logging/create-logger.ts";

/** Settings of a running process that `doctor` needs to check the same installation. */
export interface ProcessSettings {
  readonly runtime: Config["runtime"];
  readonly docker: Config["docker"];
  readonly dataDir: string;
  readonly port: number;
  readonly appUrl: string;
  readonly envHost: string;
  readonly sendsMail: boolean;
  /** As `speakingDefaults`; absent from processes of earlier versions. */
  readonly defaults?: readonly string[];
  /** As `digestSettings`; absent from processes of earlier versions. */
  readonly digests?: Readonly<Record<string, string>>;
}

export interface Process {
  readonly roles: readonly string[];
  readonly version: string;
  readonly migration: string;
  readonly hostName: string;
  readonly pid: number;
  readonly settings: ProcessSettings;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const migrations = fileURLToPath(new URL("../database/migrations", import.meta.url));
const intervalMs = 15_000;
/** Four missed renewals. */
const staleSeconds = 60;

/** Version of this program with its commit, or without git with a hash of its migrations. */
export async function thisProgram(): Promise<{ readonly version: string; readonly migration: string }> {
  const names = (await readdir(migrations)).filter((name) => name.endsWith(".sql")).sort();
  const migration = names.at(-1) ?? "";
  // The checkout may belong to another user than the process.
  const args = ["-c", "safe.directory=*", "rev-parse", "--short=12", "HEAD"];
  const commit = await promisify(execFile)("git", args, { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (commit) return { version: `${version}+${commit}`, migration };
  const hash = createHash("sha256");
  for (const name of names) hash.update(name).update(await readFile(`${migrations}/${name}`));
  return { version: `${version}+schema.${hash.digest("hex").slice(0, 12)}`, migration };
}

/** From the configuration alone; a running server knows its actual port and address. */
export function settingsOf(config: Config): ProcessSettings {
  const { runtime, docker, dataDir, port, appUrl, envHost, mail } = config;
  const sendsMail = mail.smtp !== undefined;
  const address = appUrl ?? `http://localhost:${port}`;
  const defaults = speakingDefaults(config);
  return { runtime, docker, dataDir: resolve(dataDir), port, appUrl: address, envHost, sendsMail, defaults };
}

interface Running {
  readonly db: Db;
  readonly roles: ReadonlySet<string>;
  readonly settings: ProcessSettings;
  readonly log: Logger;
}

/** Sends heartbeats to the process table until it is stopped, then deletes the row. */
export async function startPresence({ db, roles, settings, log }: Running): Promise<Loop> {
  const row = {
    ...{ id: newId(), roles: [...roles], ...(await thisProgram()) },
    ...{ host_name: hostname(), pid: process.pid, settings: JSON.stringify(settings) },
  };
  const loop = startInterval({
    name: "process-registry",
    work: async () => {
      await db
        .insertInto("processes")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: sql`now()` }))
        .execute();
      await sql`delete from processes where seen_at < now() - interval '1 day'`.execute(db);
      return intervalMs;
    },
    intervalMs,
    log,
  });
  return {
    trigger: loop.trigger,
    async stop() {
      await loop.stop();
      // An unreachable database does not delay the shutdown: the row is stale after a minute.
      await db
        .deleteFrom("processes")
        .where("id", "=", row.id)
        .execute()
        .catch(() => {});
    },
  };
}

/** Returns the processes with a recent heartbeat, newest first. */
export async function runningProcesses(db: Db): Promise<readonly Process[]> {
  const rows = await db
    .selectFrom("processes")
    .selectAll()
    .where("seen_at", ">", sql<Date>`now() - make_interval(secs => ${staleSeconds})`)
    .orderBy("started_at", "desc")
    .execute();
  return rows.map(({ host_name: hostName, ...row }) => ({ ...row, hostName }));
}
