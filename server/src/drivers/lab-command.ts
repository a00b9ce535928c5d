import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "./runtimes.ts";

/** The same start as in the images. As text, because a run sees no file of the server. */
const lab = readFileSync(new URL("../../../images/lab.py", import.meta.url), "utf8");

export function labCommand(
  runtime: Runtime,
  { home, listener, privateScratch }: { home: string; listener: number; privateScratch: boolean },
): string[] {
  return [
    join(runtime.folder, "bin", "python"),
    ...["-I", "-c", lab],
    "--allow-root",
    `--ServerApp.sock=/dev/fd/${listener}`,
    `--ServerApp.root_dir=${home}`,
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
