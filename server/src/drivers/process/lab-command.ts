import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "./prepare-runtime.ts";

/** The same start as in the images. As text, because a run sees no file of the server. */
const lab = readFileSync(new URL("../../../../images/lab.py", import.meta.url), "utf8");

export function labCommand(
  runtime: Runtime,
  { listener, privateScratch }: { listener: number; privateScratch: boolean },
): string[] {
  return [
    join(runtime.folder, "bin", "python"),
    ...["-I", "-c", lab],
    "--allow-root",
    `--ServerApp.sock=/dev/fd/${listener}`,
    // Else kernels listen on this machine's loopback, where other runs could knock. A path outside would be too long.
    ...(privateScratch ? ["--KernelManager.transport=ipc"] : []),
  ];
}

interface Variables {
  readonly home: string;
  readonly scratch: string;
  readonly token: string;
  readonly mark: string;
  readonly withoutSettings: boolean;
}

/** All that a run gets as environment variables: nothing of the server's own. What the home brings is added inside (lab.py). */
export function labEnvironment(runtime: Runtime, { home, scratch, token, mark, withoutSettings }: Variables) {
  return {
    HOME: home,
    USER: "user",
    LOGNAME: "user",
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: [join(runtime.folder, "bin"), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    JUPYTER_TOKEN: token,
    JUPYTER_RUNTIME_DIR: join(scratch, "jupyter"),
    RUN_MARK: mark,
    ...(withoutSettings && { WITHOUT_SETTINGS: "1" }),
  };
}
