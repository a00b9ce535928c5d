import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { strictLog } from "../../logging/testing/record-log.ts";
import { containerName, label } from "../docker/containers/container-body.ts";
import { networkName } from "../docker/containers/ensure-network.ts";
import { dockerDriver } from "../docker/docker-driver.ts";
import { orUndefined } from "../docker/engine/engine-errors.ts";
import { removalCommands, runFirewallCommands } from "../docker/firewall/firewall-rules.ts";
import { checkoutRecord, currentImage } from "../docker/images/image-catalogue.ts";
import type { Spec } from "../driver.ts";
import { openEngineProxy } from "./engine-proxy.ts";

const socketPath = "/var/run/docker.sock";
export const docker = new Docker({ socketPath });
const images = new Map([["jupyter", "berth/jupyter:local"]]);

/** Why containers cannot be tested on this machine; undefined where they can. */
export async function whyNoDocker(): Promise<string | undefined> {
  try {
    const found = await docker.listImages({ filters: { reference: [...images.values()] } });
    return found.length > 0 ? undefined : "the image berth/jupyter:local is not built: npm run images -- jupyter";
  } catch (error) {
    return `no Docker Engine can be used at ${socketPath}: ${(error as Error).message}`;
  }
}

/** Why the product itself starts no container here, which takes only images of its catalogue; undefined where it does. */
export async function whyNoCatalogue(): Promise<string | undefined> {
  const noImage = "no image is in the catalogue: npm run images -- jupyter";
  return (await whyNoDocker()) ?? ((await currentImage("jupyter", checkoutRecord)) ? undefined : noImage);
}

/** A folder of homes, and installations of their own, on an engine that others use too. */
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
    /** A server process that creates this run and is killed before it starts it. */
    async createAndDie(wanted: Spec): Promise<void> {
      const proxy = await openEngineProxy(directory);
      const options = { ...optionsOf("one", proxy.path), images: undefined, replaced: undefined };
      const script = `import { dockerDriver } from "${new URL("../docker/docker-driver.ts", import.meta.url)}";
        import { silentLogger } from "${new URL("../../logging/create-logger.ts", import.meta.url)}";
        const images = new Map(${JSON.stringify([...types])});
        const own = { images: async (type) => images.get(type), replaced: async () => [], log: silentLogger };
        const driver = await dockerDriver({ ...${JSON.stringify(options)}, ...own });
        await driver.start(${JSON.stringify(wanted)});`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
      proxy.onRequest = (head) => {
        if (!head.includes("/start")) return undefined;
        child.kill("SIGKILL");
        return new Promise(() => {});
      };
      await once(child, "exit");
      await proxy.close();
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

/** Removes an installation's containers, its network and its firewall. */
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

/** An ephemeral container may be removing itself. */
async function removeNow(id: string): Promise<void> {
  const container = docker.getContainer(id);
  await orUndefined(container.remove({ force: true }), 409);
  await orUndefined(container.wait({ condition: "removed" }));
}
