import { join } from "node:path";
import type { Logger } from "../../logging/create-logger.ts";
import { type Driver, DriverError } from "../driver.ts";
import { dockerDriver } from "./docker-driver.ts";
import type { EngineAddress } from "./engine/engine.ts";
import { parseAddress, type RemoteAddress } from "./engine/remote-address.ts";
import { openSshTunnel } from "./engine/ssh-tunnel.ts";
import { readCertificates, tlsAgent } from "./engine/tls-certificates.ts";

/** A row of `hosts` that has an address. */
export interface RemoteHost {
  readonly id: string;
  readonly address: string;
  readonly homeRoot: string;
  /** The private address on which its runs publish their ports. */
  readonly reach: string;
}

export interface RemoteDeps {
  readonly install: string;
  readonly images: (type: string) => Promise<string | undefined>;
  readonly replaced: () => Promise<readonly string[]>;
  /** Folder of the data folder with `known_hosts` and, for each host, a folder with its certificates or its key. */
  readonly folder: string;
  readonly sshAgent: string | undefined;
  readonly log: Logger;
}

export interface RemoteMachine {
  readonly host: RemoteHost;
  readonly address: RemoteAddress;
  readonly engine: EngineAddress;
  readonly driver: Driver;
  close(): Promise<void>;
}

/** Connects nothing yet. A host without usable certificates has a driver too, whose operations throw `unavailable`. */
export async function openRemote(host: RemoteHost, deps: RemoteDeps): Promise<RemoteMachine> {
  const { install, images, replaced, log } = deps;
  const address = parseAddress(host.address);
  const { engine, close } = await openConnection(host, address, deps);
  const { homeRoot, reach: publishAt } = host;
  const driver = await dockerDriver({ engine, install, homeRoot, images, replaced, publishAt, log });
  return { host, address, engine, driver, close };
}

async function openConnection(
  { id }: RemoteHost,
  address: RemoteAddress,
  { folder, sshAgent: agentSocket }: RemoteDeps,
): Promise<Pick<RemoteMachine, "engine" | "close">> {
  const { url } = address;
  const hostFolder = join(folder, id);
  if (address.kind === "ssh") {
    const keys = { knownHosts: join(folder, "known_hosts"), key: join(hostFolder, "key"), agentSocket };
    const tunnel = await openSshTunnel(address, keys);
    return { engine: { url, tunnel }, close: tunnel.close };
  }
  const close = async () => {};
  try {
    const certificates = await readCertificates(hostFolder);
    tlsAgent(certificates, url).destroy();
    return { engine: { url, host: address.host, port: address.port, certificates }, close };
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    return { engine: { url, problem: error.message }, close };
  }
}
