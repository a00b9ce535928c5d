import { label } from "./docker-body.ts";
import type { Engine } from "./docker-engine.ts";
import type { Machine } from "./docker-machine.ts";
import { DriverError } from "./driver.ts";

interface HomeParts {
  readonly engine: Engine;
  readonly machine: Pick<Machine, "homes">;
}

/** As `Driver.deleteHome`. */
export async function deleteHome(
  { engine, machine: { homes } }: HomeParts,
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
  await homes.remove(home);
}
