import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "./prepare-runtime.ts";

const image = (name: string) => readFileSync(new URL(`../../../../images/${name}`, import.meta.url), "utf8");

/** What lab.py reads, the first two at once. Images have them beside it. */
export const partsOfLab = [
  "own_python.py",
  "lab_extensions.py",
  "cell_outputs.py",
  "cell_run.py",
  "output_records.py",
  "outputs.py",
  "outputs.js",
  "bar.js",
  "bar-view.js",
  "ports.py",
  "ssh.py",
];

/** The start script of the images and what it reads, as text because a run sees no file of the server. JSON is Python here. */
export const lab = `PARTS = ${JSON.stringify(Object.fromEntries(partsOfLab.map((name) => [name, image(name)])))}\n${image("lab.py")}`;

/** The file descriptor on which JupyterLab listens. */
const listenFd = 9;

export function labArguments({ hasPrivateTemp }: { hasPrivateTemp: boolean }): string[] {
  return [
    "--allow-root",
    `--ServerApp.sock=/dev/fd/${listenFd}`,
    // Otherwise kernels listen on this machine's loopback, which other runs reach. A socket path outside would be too long.
    ...(hasPrivateTemp ? ["--KernelManager.transport=ipc"] : []),
  ];
}

export function labCommand(runtime: Runtime, args: readonly string[]): string[] {
  return [pythonOf(runtime), "-I", "-c", lab, ...args];
}

export function pythonOf({ folder }: Runtime): string {
  return join(folder, "bin", "python");
}

interface Variables {
  readonly home: string;
  readonly tempFolder: string;
  readonly token: string;
  readonly mark: string;
  readonly withoutSettings: boolean;
}

/** All environment variables of a run, none of them the server's own. lab.py adds those of the home. */
export function labEnvironment(runtime: Runtime, { home, tempFolder, token, mark, withoutSettings }: Variables) {
  return {
    HOME: home,
    USER: "user",
    LOGNAME: "user",
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: [join(runtime.folder, "bin"), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    JUPYTER_TOKEN: token,
    JUPYTER_RUNTIME_DIR: join(tempFolder, "jupyter"),
    RUN_MARK: mark,
    ...(withoutSettings && { WITHOUT_SETTINGS: "1" }),
  };
}
