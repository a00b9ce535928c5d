import type { Logger } from "../../logging/create-logger.ts";
import type { Owner } from "../homes/give-home.ts";

/** Who runs are outside; says so where that is root. */
export function ownerOfRuns(user: number | undefined, log: Logger): Owner {
  const [uid, gid] = user === undefined ? [process.getuid?.() ?? 0, process.getgid?.() ?? 0] : [user, user];
  if (uid === 0) log.warn({ event: "host.unfit" }, rootWarning);
  return { uid, gid };
}

const rootWarning =
  "environments are processes of root on this machine, because bubblewrap could not give them a user of their own: start the server as another user, or with RUNTIME=docker.";
