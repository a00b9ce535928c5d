import { type Engine, engineErrorOf } from "../engine/engine.ts";
import { label } from "./container-body.ts";

export const networkName = (install: string) => `berth-${install}`;
export const bridgeName = (install: string) => `br-${install.slice(0, 8)}`;

/**
 * The one bridge of an installation: runs on it do not hear each other. Not one for each run, which costs 250 ms and
 * ends at about 30. Its interface has a name of ours, for the firewall. There already: no-op.
 */
export async function ensureNetwork({ docker }: Engine, install: string, abortSignal: AbortSignal): Promise<void> {
  const Name = networkName(install);
  // Listed, because an inspection cannot be given up. The filter also finds names that only begin like this one.
  const found = await docker.listNetworks({ filters: { name: [Name] }, abortSignal });
  if (found.some((network) => network.Name === Name)) return;
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
    // Somebody else was quicker.
    if (engineErrorOf(error)?.status !== 409) throw error;
  }
}
