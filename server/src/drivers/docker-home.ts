import { chown, mkdir } from "node:fs/promises";
import { label, runUser } from "./docker-body.ts";
import type { Engine } from "./docker-engine.ts";
import { DriverError } from "./driver.ts";
import type { Quota } from "./find-quota.ts";
import type { Homes } from "./homes.ts";

interface HomeParts {
  readonly homes: Homes;
  readonly quota?: Quota | undefined;
}

/** The folder that a run is given: its own user's, and with its limit on disk where there are limits. */
export async function makeHome({ homes, quota }: HomeParts, home: string, gigabytes: number): Promise<void> {
  await mkdir(homes.path(home), { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) await chown(homes.path(home), runUser, runUser);
  await quota?.limit(home, gigabytes);
}

/** As `Driver.deleteHome`. */
export async function deleteHome(
  { engine, homes, quota }: HomeParts & { readonly engine: Engine },
  home: string,
  abortSignal: AbortSignal,
): Promise<void> {
  const folder = homes.path(home);
  const filters = { label: [`${label.home}=${home}`] };
  // Of every installation: two may have the same folder of homes.
  const users = await engine.docker.listContainers({ all: true, filters, abortSignal });
  const using = users.some(
    ({ State, Mounts }) => State !== "exited" && State !== "dead" && Mounts.some(({ Source }) => Source === folder),
  );
  if (using) throw new DriverError("refused", `a run uses ${home}`);
  await quota?.lift(home);
  await homes.remove(home);
}
