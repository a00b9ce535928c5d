import { sql } from "kysely";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { remoteFirewall } from "../../drivers/docker/check-remote.ts";
import { type Engine, openEngine } from "../../drivers/docker/engine/engine.ts";
import type { FirewallDeps } from "../../drivers/docker/firewall/start-firewall.ts";
import type { RemoteDeps } from "../../drivers/docker/open-remote.ts";
import { thisMachine } from "../../environments/hosts/register-host.ts";
import { openRemoteHosts } from "../../environments/hosts/start-remote-hosts.ts";

/** A host with a Docker Engine, as far as it can be checked from here. */
export interface DockerHost {
  readonly id: string;
  readonly engine: Engine;
  /** The folder of homes on its machine; undefined: this machine's own. */
  readonly homeRoot: string | undefined;
  readonly firewall: FirewallDeps;
  /** The engine's own report, or the error as text. */
  readonly answer: EngineAnswer | string;
}

export interface EngineAnswer {
  readonly systemTime: Date;
  /** By this machine's clock, in the middle of the call. */
  readonly askedAt: number;
  /** Its folder of images and container logs, on its machine. */
  readonly storage: string;
}

interface DockerHosts extends AsyncDisposable {
  readonly hosts: readonly DockerHost[];
}

/** Asks each engine once, so that an unreachable one is a single finding instead of one for each check. */
export async function openDockerHosts(
  db: Db,
  { runtime, docker, port, isHere }: Pick<Config, "runtime" | "docker" | "port"> & { readonly isHere: boolean },
  deps: RemoteDeps,
): Promise<DockerHosts> {
  const isDocker = isHere && (runtime === "docker" || (await isRegistered(db)));
  const image = () => deps.images("jupyter");
  const isHost = docker.reach === "published";
  const firewall = { engine: docker, install: deps.install, image, isHost, port };
  const local = isDocker ? [{ id: thisMachine, address: docker, homeRoot: undefined, firewall }] : [];
  const remotes = await openRemoteHosts(db, deps);
  const others = remotes.map((each) => {
    return {
      id: each.host.id,
      address: each.engine,
      homeRoot: each.host.homeRoot,
      firewall: remoteFirewall(each, deps),
    };
  });
  const hosts = [...local, ...others].map(async ({ address, ...host }) => {
    const engine = openEngine(address);
    return { ...host, engine, answer: await ask(engine) };
  });
  return {
    hosts: await Promise.all(hosts),
    async [Symbol.asyncDispose]() {
      for (const { close } of remotes) await close();
    },
  };
}

/** As a server registered this machine at its last start, because this process may lack RUNTIME. */
async function isRegistered(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from hosts where id = ${thisMachine} and kind = 'docker'`.execute(db);
  return rows.length > 0;
}

async function ask(engine: Engine): Promise<EngineAnswer | string> {
  try {
    const from = Date.now();
    // The method accepts the signal, but its type lacks it.
    const info = (abortSignal: AbortSignal) => engine.docker.info({ abortSignal } as unknown as () => void) as unknown;
    const reported = await engine.withTimeout(
      async (signal) => (await info(signal)) as { SystemTime: string; DockerRootDir: string },
    );
    const askedAt = (from + Date.now()) / 2;
    return { systemTime: new Date(reported.SystemTime), askedAt, storage: reported.DockerRootDir ?? "" };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The hosts whose engines answered. */
export function answering(hosts: readonly DockerHost[]): readonly (DockerHost & { readonly answer: EngineAnswer })[] {
  return hosts.flatMap((host) => (typeof host.answer === "string" ? [] : [{ ...host, answer: host.answer }]));
}
