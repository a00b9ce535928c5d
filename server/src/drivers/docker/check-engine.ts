import { DriverError } from "../driver.ts";
import { type EngineAddress, openEngine } from "./engine/engine.ts";
import { acceptsUnknownClients } from "./engine/tls-certificates.ts";
import { readEngineInfo } from "./machine/engine-facts.ts";

/** The oldest API with all options of a run: Docker Engine 20.10. */
const oldestApi = "1.41";

/**
 * Checks an engine before anything is leased on it (docs/internals/reliability.md). Returns warnings for the operator, in
 * plain sentences. Throws a DriverError, for people too, when the engine cannot be used.
 */
export async function checkEngine(
  address: EngineAddress,
  { needsLiveRestore }: { readonly needsLiveRestore: boolean },
): Promise<string[]> {
  const engine = openEngine(address);
  const { apiVersion, os, liveRestore } = await engine.withTimeout((abortSignal) =>
    readEngineInfo(engine, abortSignal),
  );
  const at = `the Docker Engine at ${engine.displayName}`;
  if ("certificates" in address && (await acceptsUnknownClients(address)))
    throw new DriverError("refused", `${at} accepts clients without a certificate: it must run with --tlsverify`);
  if (isOlder(apiVersion, oldestApi))
    throw new DriverError(
      "unsupported",
      `${at} is too old (API ${apiVersion}): 20.10 (API ${oldestApi}) or later is needed`,
    );
  if (os !== "linux") throw new DriverError("unsupported", `${at} runs ${os} containers: Linux ones are needed`);
  const user = "socketPath" in address ? (process.getuid?.() ?? 0) : 0;
  // Any other user would make homes that runs cannot write.
  if (user !== 0 && user !== 1000)
    throw new DriverError(
      "unsupported",
      `homes belong to user 1000: run the server as root or as user 1000, not as ${user}`,
    );
  if (liveRestore) return [];
  const warning = `live-restore is off in ${at}: when it restarts, every run ends. Put {"live-restore": true} into /etc/docker/daemon.json and reload it`;
  if (needsLiveRestore) throw new DriverError("unsupported", warning);
  return [warning];
}

function isOlder(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [wantedMajor = 0, wantedMinor = 0]] = [version, than].map((text) =>
    text.split(".").map(Number),
  ) as [number[], number[]];
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
