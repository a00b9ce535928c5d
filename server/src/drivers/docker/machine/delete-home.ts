import { DriverError } from "../../driver.ts";
import { label } from "../containers/container-body.ts";
import type { Engine } from "../engine/engine.ts";
import type { EngineMachine } from "./engine-machine.ts";

interface DeleteHomeDeps {
  readonly engine: Engine;
  readonly machine: Pick<EngineMachine, "homes">;
}

/** As `Driver.deleteHome`. */
export async function deleteHome(
  { engine, machine: { homes } }: DeleteHomeDeps,
  home: string,
  abortSignal: AbortSignal,
): Promise<void> {
  const folder = homes.path(home);
  // Containers of every installation: two may share one folder of homes.
  const filters = { label: [`${label.home}=${home}`] };
  const containers = await engine.docker.listContainers({ all: true, filters, abortSignal });
  const isUsed = containers.some(
    ({ State, Mounts }) => State !== "exited" && State !== "dead" && Mounts.some(({ Source }) => Source === folder),
  );
  if (isUsed) throw new DriverError("refused", `a run uses ${home}`);
  await homes.remove(home);
}
