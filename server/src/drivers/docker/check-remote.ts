import { type Capabilities, DriverError } from "../driver.ts";
import { checkEngine } from "./check-engine.ts";
import { helperOutput } from "./containers/helper-container.ts";
import { openEngine } from "./engine/engine.ts";
import { type FirewallDeps, findLeaks, remoteFirewallHint } from "./firewall/start-firewall.ts";
import { wipeDeletedHomes } from "./machine/remote-homes.ts";
import type { RemoteDeps, RemoteMachine } from "./open-remote.ts";

export interface RemoteCheck {
  readonly gpus: Capabilities["gpus"];
  /** Plain sentences for the operator. */
  readonly warnings: readonly string[];
}

const wipeLimitMs = 60_000;

/** The firewall of another machine: this process can only probe it, not apply it. */
export function remoteFirewall(
  { host, address, engine }: RemoteMachine,
  { install, images }: RemoteDeps,
): FirewallDeps {
  const other = { id: host.id, address: host.reach };
  return { engine, install, image: () => images("jupyter"), isHost: false, port: address.port, other };
}

/**
 * Checks all that a host needs before anything is leased on it (docs/internals/reliability.md). Throws a DriverError, in one
 * sentence, when the host cannot be used. Pulls the image that everything needs, removes images that were replaced, and
 * deletes the files of deleted homes for at most a minute.
 */
export async function checkRemote(
  remote: RemoteMachine,
  deps: RemoteDeps,
  { needsLiveRestore }: { readonly needsLiveRestore: boolean },
): Promise<RemoteCheck> {
  const { engine, host, driver } = remote;
  const warnings = await checkEngine(engine, { needsLiveRestore });
  try {
    await driver.prepare("jupyter");
  } catch (error) {
    if (!(error instanceof DriverError && error.code === "no_image")) throw error;
    const command = `docker save berth/jupyter:local | ssh ADMIN@${new URL(remote.address.url).hostname} docker load`;
    throw new DriverError("no_image", `${host.id} does not have the image that everything needs, jupyter: ${command}`);
  }
  await checkHomes(remote, deps);
  const { gpus } = await driver.capabilities();
  const leaks = await findLeaks(remoteFirewall(remote, deps));
  if (leaks.length === 0) return { gpus, warnings };
  const command = `run there, as root, ${remoteFirewallHint(host.id)}`;
  return { gpus, warnings: [...warnings, `it has no firewall: ${leaks.join("; ")}; ${command}`] };
}

/** Makes the folder private to the engine, and writes a file, which fails on a full or read-only disk. */
async function checkHomes({ engine: address, host }: RemoteMachine, { install, images }: RemoteDeps): Promise<void> {
  const engine = openEngine(address);
  const helperDeps = { engine, install, image: () => images("jupyter") };
  const script = "chmod 700 /homes && : >/homes/.checked && rm /homes/.checked && echo ok";
  const output = await helperOutput(helperDeps, { script, binds: [`${host.homeRoot}:/homes`] });
  if (output.trim() !== "ok")
    throw new DriverError("refused", `homes cannot be written in ${host.homeRoot} on ${host.id}`);
  // After the timeout the next deletion of a home continues.
  const limit = AbortSignal.timeout(wipeLimitMs);
  await wipeDeletedHomes(helperDeps, host.homeRoot, limit).catch((error) => {
    if (!limit.aborted) throw error;
  });
}
