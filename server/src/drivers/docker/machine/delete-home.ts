import { DriverError } from "../../driver.ts";
import { label } from "../containers/container-body.ts";
import type { Engine } from "../engine/engine.ts";
import type { EngineMachine } from "./engine-machine.ts";

interface HomeParts {
  readonly engine: Engine;
  readonly machine: Pick<EngineMachine, "homes">;
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
