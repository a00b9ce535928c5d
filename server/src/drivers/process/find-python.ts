import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { DriverError } from "../driver.ts";

const run = promisify(execFile);

export interface Python {
  readonly executable: string;
  /** Such as 3.11.7. */
  readonly version: string;
  /** The folder that a run must see for this Python to start. */
  readonly prefix: string;
}

const inspection = `import json, os, sys
try:
    import ensurepip, venv
    complete = True
except ImportError:
    complete = False
base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
print(json.dumps([base, ".".join(map(str, sys.version_info[:3])), sys.base_prefix, complete]))`;

/** The first Python on PATH that is 3.11 or newer and can make virtual environments. Throws `no_image`, naming the package to install. `path` replaces PATH. */
export async function findPython(path?: string): Promise<Python> {
  let problem = "There is no Python on this machine. JupyterLab needs Python 3.11 or newer";
  for (const name of ["python3", "python3.14", "python3.13", "python3.12", "python3.11"]) {
    const python = await inspect(name, path);
    if (!python) continue;
    const [executable, version, prefix, complete] = python;
    const [major = 0, minor = 0] = version.split(".").map(Number);
    if (major === 3 && minor >= 11 && complete) return { executable, version, prefix };
    problem = complete
      ? `Python ${version} is too old: JupyterLab needs 3.11 or newer`
      : `Python ${version} has no "venv" module`;
  }
  throw new DriverError("no_image", `${problem}. On Debian and Ubuntu: apt-get install python3-venv`);
}

async function inspect(name: string, path: string | undefined): Promise<[string, string, string, boolean] | undefined> {
  try {
    const { stdout } = await run(name, ["-I", "-c", inspection], {
      timeout: 10_000,
      ...(path !== undefined && { env: { PATH: path } }),
    });
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}
