import { gatewaySettings } from "../../config/compared-settings.ts";
import type { Process } from "../process-registry.ts";

/**
 * A sentence for each setting that processes of the installation have differently, with who has which value, never the
 * value. A gateway alone needs few of them. A process of a version that does not say is left out.
 */
export function differingSettings(processes: readonly Process[]): readonly string[] {
  const said = processes.filter(({ settings }) => settings.digests !== undefined);
  const names = new Set(said.flatMap(({ settings }) => Object.keys(settings.digests ?? {})));
  return [...names].toSorted().flatMap((name) => {
    const uses = ({ roles }: Process) => gatewaySettings.includes(name) || roles.some((role) => role !== "gateway");
    const groups = Map.groupBy(said.filter(uses), ({ settings }) => settings.digests?.[name] ?? "");
    if (groups.size < 2) return [];
    const sides = [...groups].map(
      ([digest, group]) => `${group.map(nameOf).join(", ")}${digest === "" ? " (unset)" : ""}`,
    );
    return [`${name}: ${sides.join(" | ")}`];
  });
}

/** A process in words. */
export const nameOf = ({ roles, hostName, pid }: Process) => `${roles.join(", ")} on ${hostName} (process ${pid})`;
