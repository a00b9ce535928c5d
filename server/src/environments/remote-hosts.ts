import type { Db, Sql } from "../database/database.ts";
import { openRemote, type Remote, type RemoteHost, type RemoteParts } from "../drivers/docker-remote.ts";
import { checkRemote, wallOf } from "../drivers/docker-remote-check.ts";
import { DriverError } from "../drivers/driver.ts";
import { startWall } from "../drivers/wall-watch.ts";
import { type Loop, startLoop } from "../loop.ts";
import { registerHost } from "./hosts.ts";

/** The hosts on other machines, as an operator added them (runtime.md 3). */
export async function remoteHosts(db: Sql): Promise<readonly RemoteHost[]> {
  const rows = await db
    .selectFrom("hosts")
    .select(["id", "address", "home_root", "reach"])
    .where("address", "is not", null)
    .where("removed_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id, address, home_root, reach }) => ({
    id,
    address: address ?? "",
    homeRoot: home_root ?? "",
    reach: reach ?? "",
  }));
}

/** A driver for each; nothing is connected yet, and one that is away is told by its verbs. */
export async function openRemoteHosts(db: Db, parts: RemoteParts): Promise<readonly Remote[]> {
  return await Promise.all((await remoteHosts(db)).map((host) => openRemote(host, parts)));
}

interface StartParts extends RemoteParts {
  readonly db: Db;
  readonly slots: number;
  readonly needsLiveRestore: boolean;
}

/** What a worker does beside renting on them: registers each when it first answers, and looks at its wall every minute. */
export function startRemoteHosts(remotes: readonly Remote[], parts: StartParts): readonly Loop[] {
  return remotes.flatMap((remote) => [startRegistering(remote, parts), startWall(wallOf(remote, parts), parts.failed)]);
}

const retryMs = 30_000;

/** Nothing is sold on a host before it has answered once, and nobody waits for it. What keeps it away is told once. */
function startRegistering(remote: Remote, parts: StartParts): Loop {
  const { id } = remote.host;
  const told = new Set<string>();
  let isDone = false;
  const tell = (words: string) => {
    if (!told.has(words)) parts.failed(`${id}: ${words}`);
    told.add(words);
  };
  return startLoop(
    async () => {
      if (isDone) return retryMs;
      const { warnings } = await checkRemote(remote, parts, parts);
      await registerHost(parts.db, id, remote.driver, parts.slots);
      isDone = true;
      for (const words of warnings) tell(`WARNING: ${words}`);
      return retryMs;
    },
    retryMs,
    (error) => (error instanceof DriverError ? tell(error.message) : parts.failed(error)),
  );
}
