import { readFile } from "node:fs/promises";
import type { Logger } from "../../../logging/create-logger.ts";
import type { Owner } from "../../homes/give-home.ts";
import type { Sandbox } from "./sandbox.ts";

/** In the range of Debian's and Red Hat's ordinary users, above all that are given out in turn. */
const firstUser = 59_071;

/** A number that no user of this machine has. */
export async function unusedUser(): Promise<number> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const taken = new Set(text.split("\n").map((line) => Number(line.split(":")[2])));
  let user = firstUser;
  while (taken.has(user)) user += 1;
  return user;
}

/**
 * The same sandbox, started by root for another user and its group (G315). That user reaches no folder of the server, so the
 * view is bound where it does, in a mount namespace around the sandbox.
 */
export function asUser(program: string, user: number, sandbox: Sandbox): Sandbox {
  return async (view, command) => {
    const reached = (index: number) => `/tmp/${index}`;
    const paths = [...view.readOnly, ...view.writable].map(({ path }) => path);
    const readOnly = view.readOnly.map(({ path, at = path }, index) => ({ path: reached(index), at }));
    const writable = view.writable.map(({ at }, index) => ({ path: reached(readOnly.length + index), at }));
    return [
      ...[program, "--dev-bind", "/", "/", "--tmpfs", "/tmp"],
      ...paths.flatMap((path, index) => ["--bind", path, reached(index)]),
      ...["--", "setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"],
      ...(await sandbox({ ...view, readOnly, writable }, command)),
    ];
  };
}

/** Who runs are outside; says so where that is root. */
export function ownerOfRuns(user: number | undefined, log: Logger): Owner {
  const [uid, gid] = user === undefined ? [process.getuid?.() ?? 0, process.getgid?.() ?? 0] : [user, user];
  if (uid === 0) log.warn({ event: "host.unfit" }, rootWarning);
  return { uid, gid };
}

const rootWarning =
  "environments are processes of root on this machine, because bubblewrap could not give them a user of their own: start the server as another user, or with RUNTIME=docker.";
