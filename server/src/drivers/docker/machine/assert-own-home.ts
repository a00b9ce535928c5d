import type { ContainerInspectInfo } from "dockerode";
import { DriverError } from "../../driver.ts";
import { homeInside, label } from "../containers/container-body.ts";
import type { EngineMachine } from "./engine-machine.ts";

/** Whether a run has the files of this driver: an installation that was copied or moved finds runs on the folders of before. */
export function usesOwnHome({ homes }: EngineMachine, info: ContainerInspectInfo): boolean {
  const source = sourceOf(info);
  return source === undefined || source === homes.path(info.Config.Labels[label.home] ?? "");
}

/** Such a run is not adopted: what it wrote would be gone with its next container (G111). */
export function assertOwnHome(machine: EngineMachine, info: ContainerInspectInfo): void {
  if (usesOwnHome(machine, info)) return;
  throw new DriverError(
    "no_home",
    `${info.Name.slice(1)} runs on the files in ${sourceOf(info)}, not in this DATA_DIR: start the server with the DATA_DIR of before, or remove this container`,
  );
}

/** As it was asked for; undefined where an engine does not say it. */
function sourceOf({ HostConfig }: ContainerInspectInfo): string | undefined {
  return (HostConfig.Mounts ?? []).find(({ Target }) => Target === homeInside)?.Source;
}
