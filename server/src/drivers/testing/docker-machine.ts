import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { strictLog } from "../../logging/testing/record-log.ts";
import { containerName, label } from "../docker/containers/container-body.ts";
import { networkName } from "../docker/containers/ensure-network.ts";
import { dockerDriver } from "../docker/docker-driver.ts";
import { orUndefined } from "../docker/engine/engine-errors.ts";
import { removalCommands, runFirewallCommands } from "../docker/firewall/firewall-rules.ts";
import type { Spec } from "../driver.ts";

const socketPath = "/var/run/docker.sock";
export const docker = new Docker({ socketPath });
const images = new Map([["jupyter", "berth/jupyter:local"]]);

/** Why the suite of containers cannot run on this machine; undefined where it can. */
export async function whyNoDocker(): Promise<string | undefined> {
  try {
    const found = await docker.listImages({ filters: { reference: [...images.values()] } });
    return found.length > 0 ? undefined : "the image berth/jupyter:local is not built: npm run images -- jupyter";
  } catch (error) {
    return `no Docker Engine can be used at ${socketPath}: ${(error as Error).message}`;
  }
}

/** A folder of homes and installations of our own on an engine that others use too. */
export function openDockerMachine({ at = socketPath, types = images, replaced = [] as readonly string[] } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "berth-docker-"));
  const installs = new Map<string, string>();
  const installOf = (name: string) => {
    const known = installs.get(name) ?? randomBytes(6).toString("hex");
    installs.set(name, known);
    return known;
  };
  const homeRoot = join(directory, "homes");
  const optionsOf = (name: string, engineAt: string, reach: "published" | "network" = "published") => {
    const engine = { socketPath: engineAt };
    const publishAt = reach === "published" ? "127.0.0.1" : undefined;
    const catalogue = { images: async (type: string) => types.get(type), replaced: async () => replaced };
    return { engine, install: installOf(name), homeRoot, ...catalogue, publishAt };
  };
  const open = (name = "one", engineAt = at, reach: "published" | "network" = "published", root = homeRoot) =>
    dockerDriver({ ...optionsOf(name, engineAt, reach), homeRoot: root, log: strictLog() });
  const engine = new Docker({ socketPath: at });
  return {
    directory,
    homeRoot,
    engine,
    installOf,
    open,
    container: (id: string) => engine.getContainer(containerName(id)),
    /** Another server creates this run and is killed before it can start it. */
    async createAndDie(wanted: Spec): Promise<void> {
      const line = await openEngineProxy(directory);
      const options = { ...optionsOf("one", line.path), images: undefined, replaced: undefined };
      const script = `import { dockerDriver } from "${new URL("../docker/docker-driver.ts", import.meta.url)}";
        import { silentLogger } from "${new URL("../../logging/create-logger.ts", import.meta.url)}";
        const images = new Map(${JSON.stringify([...types])});
        const own = { images: async (type) => images.get(type), replaced: async () => [], log: silentLogger };
        const driver = await dockerDriver({ ...${JSON.stringify(options)}, ...own });
        await driver.start(${JSON.stringify(wanted)});`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
      line.onRequest = (head) => {
        if (!head.includes("/start")) return undefined;
        child.kill("SIGKILL");
        return new Promise(() => {});
      };
      await once(child, "exit");
      await line.close();
    },
    async close() {
      const driver = await open();
      for (const { id } of await driver.list()) await driver.stop(id, 0);
      for (const install of installs.values()) {
        await engine
          .getNetwork(networkName(install))
          .remove()
          .catch(() => {});
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Ends an installation's runs and takes its network away. */
export async function removeRuns(install: string): Promise<void> {
  const all = await docker.listContainers({ all: true, filters: { label: [`${label.install}=${install}`] } });
  await Promise.all(all.map(({ Id }) => removeNow(Id)));
  // It has none when nothing was ever launched.
  await docker
    .getNetwork(networkName(install))
    .remove()
    .catch(() => {});
  await runFirewallCommands(removalCommands(install));
}

/** One of a moment may be on its way out by itself. */
async function removeNow(id: string): Promise<void> {
  const container = docker.getContainer(id);
  await orUndefined(container.remove({ force: true }), 409);
  await orUndefined(container.wait({ condition: "removed" }));
}

export interface EngineProxy {
  readonly path: string;
  /** What befalls the connections from now on, also those already open. */
  fault: "none" | "slow" | "silent" | "cut";
  /** Hears of each request's first line; what it returns is waited for before the engine gets it. */
  onRequest: (head: string) => Promise<void> | undefined;
  /** Connections that are open now. */
  count(): number;
  /** Breaks them all. */
  drop(): void;
  close(): Promise<void>;
}

/** A Unix socket in front of the engine's own: slow is 3 s each way, silent says nothing, cut ends amid an answer. */
export async function openEngineProxy(directory: string): Promise<EngineProxy> {
  const path = join(directory, `line-${randomBytes(3).toString("hex")}.sock`);
  const sockets = new Set<Socket>();
  const line: EngineProxy = {
    path,
    fault: "none",
    onRequest: () => undefined,
    count: () => sockets.size,
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      line.drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((near) => {
    const far = connect(socketPath);
    sockets.add(near).add(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    near.on("data", async (chunk) => {
      await line.onRequest(chunk.toString("latin1").split("\r\n")[0] ?? "");
      if (line.fault === "slow") await new Promise((resolve) => setTimeout(resolve, 3_000));
      if (line.fault !== "silent") far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (line.fault === "cut") {
        near.write(chunk.subarray(0, 20));
        near.destroySoon();
      } else if (line.fault !== "silent") near.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return line;
}
