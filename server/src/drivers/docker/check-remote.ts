import { type Capabilities, DriverError } from "../driver.ts";
import { checkEngine } from "./check-engine.ts";
import { helperOutput } from "./containers/helper-container.ts";
import { openEngine } from "./engine/engine.ts";
import { type FirewallDeps, findLeaks, remoteFirewallHint } from "./firewall/start-firewall.ts";
import { wipeDeletedHomes } from "./machine/remote-homes.ts";
import type { RemoteDeps, RemoteMachine } from "./open-remote.ts";

export interface RemoteCheck {
  readonly gpus: Capabilities["gpus"];
  /** What an operator should know or do, in plain sentences. */
  readonly warnings: readonly string[];
}

const wipingMs = 60_000;

/** The wall of another machine: only looked at, because nobody can raise it from here. */
export function remoteFirewall(
  { host, address, engine }: RemoteMachine,
  { install, images }: RemoteDeps,
): FirewallDeps {
  const other = { id: host.id, address: host.reach };
  return { engine, install, image: () => images("jupyter"), isHost: false, port: address.port, other };
}

/**
 * Looks at all that a host needs before something is sold on it (docs/internals/reliability.md). Throws a DriverError,
 * in one sentence, for what keeps it from being used. Fetches the image that everything needs, and takes away what
 * nobody needs any more: images that were replaced, and what is left of deleted homes, as far as a minute goes.
 */
export async function checkRemote(
  remote: RemoteMachine,
  parts: RemoteDeps,
  { needsLiveRestore }: { readonly needsLiveRestore: boolean },
): Promise<RemoteCheck> {
  const { engine, host, driver } = remote;
  const warnings = await checkEngine(engine, { needsLiveRestore });
  try {
    await driver.prepare("jupyter");
  } catch (error) {
    if (!(error instanceof DriverError && error.code === "no_image")) throw error;
    const way = `docker save berth/jupyter:local | ssh ADMIN@${new URL(remote.address.url).hostname} docker load`;
    throw new DriverError("no_image", `${host.id} does not have the image that everything needs, jupyter: ${way}`);
  }
  await checkHomes(remote, parts);
  const { gpus } = await driver.capabilities();
  const holes = await findLeaks(remoteFirewall(remote, parts));
  const way = `run there, as root, ${remoteFirewallHint(host.id)}`;
  return {
    gpus,
    warnings: [...warnings, ...(holes.length > 0 ? [`it has no wall: ${holes.join("; ")}; ${way}`] : [])],
  };
}

/** Closed to everybody but the engine; and a file can be written there, which a full or read-only disk refuses. */
async function checkHomes({ engine: address, host }: RemoteMachine, { install, images }: RemoteDeps): Promise<void> {
  const engine = openEngine(address);
  const errands = { engine, install, image: () => images("jupyter") };
  const script = "chmod 700 /homes && : >/homes/.checked && rm /homes/.checked && echo well";
  const said = await helperOutput(errands, { script, binds: [`${host.homeRoot}:/homes`] });
  if (said.trim() !== "well")
    throw new DriverError("refused", `homes cannot be written in ${host.homeRoot} on ${host.id}`);
  // The rest, if there is so much, goes with the next home that is deleted.
  const limit = AbortSignal.timeout(wipingMs);
  await wipeDeletedHomes(errands, host.homeRoot, limit).catch((error) => {
    if (!limit.aborted) throw error;
  });
}
