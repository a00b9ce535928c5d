import type { Engine } from "../engine/engine.ts";
import { engineErrorOf } from "../engine/engine-errors.ts";
import { label } from "./container-body.ts";

export const networkName = (install: string) => `berth-${install}`;
export const bridgeName = (install: string) => `br-${install.slice(0, 8)}`;

/**
 * Creates the one bridge of an installation, on which containers cannot reach each other; no-op when it exists. A bridge
 * for each container would cost 250 ms and end at about 30. The interface has a name of ours, for the firewall.
 */
export async function ensureNetwork({ docker }: Engine, install: string, abortSignal: AbortSignal): Promise<void> {
  const Name = networkName(install);
  // An inspection takes no abort signal. The filter also finds names that only begin like this one.
  const existing = await docker.listNetworks({ filters: { name: [Name] }, abortSignal });
  if (existing.some((network) => network.Name === Name)) return;
  try {
    await docker.createNetwork({
      Name,
      CheckDuplicate: true,
      Driver: "bridge",
      Options: {
        "com.docker.network.bridge.enable_icc": "false",
        "com.docker.network.bridge.name": bridgeName(install),
      },
      Labels: { [label.install]: install },
      abortSignal,
    });
  } catch (error) {
    // Another server has created it meanwhile.
    if (engineErrorOf(error)?.status !== 409) throw error;
  }
}
