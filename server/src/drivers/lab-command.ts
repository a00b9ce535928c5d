import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Runtime } from "./runtimes.ts";

/**
 * Starts JupyterLab without two costs of its start-up, which together take 3.6 s to 0.9 s (two shared cores):
 * rfc3987_syntax compiles a grammar of 1.5 s while it is imported, and jsonschema does without it (IRI formats go
 * unchecked); the yarn settings are asked from Node for building extensions, which a read-only runtime never does.
 * And keeps the run's token out of the page, which the gateway shows for the owner: it never leaves the server (G95).
 */
const launcher = `import sys
sys.modules["rfc3987_syntax"] = None
import jupyterlab.commands
jupyterlab.commands._yarn_config = lambda logger: {"yarn config": {}, "npm config": {}}
from jupyterlab.labapp import LabApp, main
initialize_handlers = LabApp.initialize_handlers
def without_token(self):
    initialize_handlers(self)
    self.serverapp.web_app.settings["page_config_data"]["token"] = ""
LabApp.initialize_handlers = without_token
sys.argv[0] = "jupyter-lab"
main()`;

export function labCommand(
  runtime: Runtime,
  { home, socketPath, privateScratch }: { home: string; socketPath: string; privateScratch: boolean },
): string[] {
  return [
    join(runtime.folder, "bin", "python"),
    ...["-c", launcher],
    "--no-browser",
    "--allow-root",
    `--ServerApp.sock=${socketPath}`,
    // Behind the gateway the Host header is the subdomain, which JupyterLab otherwise refuses on a Unix socket (403).
    "--ServerApp.allow_remote_access=True",
    `--ServerApp.root_dir=${home}`,
    "--ServerApp.base_url=/",
    "--ServerApp.quit_button=False",
    "--ServerApp.terminals_enabled=True",
    // No language servers come with the runtime, and the shim is for the classic notebook.
    '--ServerApp.jpserver_extensions={"jupyter_lsp": False, "notebook_shim": False}',
    "--LabApp.extension_manager=readonly",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    // Else kernels listen on this machine's loopback, where other runs could knock. A path outside would be too long.
    ...(privateScratch ? ["--KernelManager.transport=ipc"] : []),
  ];
}

/** All that a run gets as environment variables: nothing of the server's own. */
export function labVariables(
  runtime: Runtime,
  { home, scratch, token, mark }: { home: string; scratch: string; token: string; mark: string },
): Record<string, string> {
  const own = join(home, packagesFolder);
  const path = [join(own, "bin"), join(home, ".local", "bin"), join(runtime.folder, "bin"), ...systemPath];
  return {
    HOME: home,
    USER: "user",
    LOGNAME: "user",
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: path.join(":"),
    VIRTUAL_ENV: own,
    VIRTUAL_ENV_DISABLE_PROMPT: "1",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    JUPYTER_TOKEN: token,
    JUPYTER_RUNTIME_DIR: join(scratch, "jupyter"),
    RUN_MARK: mark,
  };
}

const systemPath = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Where the owner's packages live, inside the home: kept through stop and start. */
const packagesFolder = join(".local", "python");

/**
 * Makes the home's own Python environment by hand (`python -m venv` takes seconds): the runtime's packages are visible
 * below the owner's, `pip install` writes here, and kernels and terminals use it. `outside` is the home's path here.
 */
export async function makeHome(outside: string, { folder, python }: Runtime): Promise<void> {
  const own = join(outside, packagesFolder);
  const minor = python.version.split(".").slice(0, 2).join(".");
  const packages = join(own, "lib", `python${minor}`, "site-packages");
  await mkdir(outside, { recursive: true, mode: 0o700 });
  await mkdir(join(own, "bin"), { recursive: true });
  await mkdir(packages, { recursive: true });
  const settings = `home = ${dirname(python.executable)}\ninclude-system-site-packages = false\nversion = ${python.version}\n`;
  await writeFile(join(own, "pyvenv.cfg"), settings);
  await writeFile(join(packages, "_runtime.pth"), `${join(folder, "lib", `python${minor}`, "site-packages")}\n`);
  const present = new Set(await readdir(join(own, "bin")));
  for (const name of ["python", "python3", `python${minor}`]) {
    if (!present.has(name)) await symlink(join(folder, "bin", "python"), join(own, "bin", name));
  }
  for (const name of ["pip", "pip3"]) {
    if (!present.has(name)) await writeFile(join(own, "bin", name), pipScript, { mode: 0o755 });
  }
}

const pipScript = `#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n`;
