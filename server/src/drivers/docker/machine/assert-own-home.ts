import type { ContainerInspectInfo } from "dockerode";
import { DriverError } from "../../driver.ts";
import { homeInside, label } from "../containers/container-body.ts";
import type { EngineMachine } from "./engine-machine.ts";

/** Whether a container uses the homes of this driver: a copied or moved installation finds containers on its former folders. */
export function usesOwnHome({ homes }: EngineMachine, info: ContainerInspectInfo): boolean {
  const source = sourceOf(info);
  return source === undefined || source === homes.path(info.Config.Labels[label.home] ?? "");
}

/** Throws `no_home`: files that such a container wrote would be missing from the next one (G111). */
export function assertOwnHome(machine: EngineMachine, info: ContainerInspectInfo): void {
  if (usesOwnHome(machine, info)) return;
  throw new DriverError(
    "no_home",
    `${info.Name.slice(1)} runs on the files in ${sourceOf(info)}, not in this DATA_DIR: start the server with the DATA_DIR of before, or remove this container`,
  );
}

/** The folder as it was requested; undefined where an engine does not report it. */
function sourceOf({ HostConfig }: ContainerInspectInfo): string | undefined {
  return (HostConfig.Mounts ?? []).find(({ Target }) => Target === homeInside)?.Source;
}
