import { randomBytes } from "node:crypto";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { containerBody, labPort, runUser } from "../../server/src/drivers/docker/containers/container-body.ts";
import { ensureNetwork, networkName } from "../../server/src/drivers/docker/containers/ensure-network.ts";
import { openEngine } from "../../server/src/drivers/docker/engine/engine.ts";
import { checkoutRecord, currentImage } from "../../server/src/drivers/docker/images/image-catalogue.ts";
import { removeRuns } from "../../server/src/drivers/testing/docker-machine.ts";
import { runLimits } from "../../server/src/environments/leases/run-limits.ts";
import { probeReadiness } from "../../server/src/gateway/forward/probe-readiness.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";

const pollMs = 100;

/**
 * The floor: the engine alone creates and starts the same image with the same flags, and polls the same readiness probe
 * as the product. Returns milliseconds from the create call to the first success.
 */
export async function openFloor(stack: AsyncDisposableStack): Promise<() => Promise<number>> {
  const engine = openEngine({ socketPath: "/var/run/docker.sock" });
  const { docker } = engine;
  const install = randomBytes(6).toString("hex");
  await ensureNetwork(engine, install, new AbortController().signal);
  stack.defer(() => removeRuns(install));
  const folder = temporaryFolder();
  stack.defer(async () => removeFolder(folder));
  const image = await currentImage("jupyter", checkoutRecord);
  if (!image) throw new Error("no image: run npm run images -- jupyter");
  const { NCPU: cpus } = await docker.info();
  const place = { install, image, network: networkName(install), publishAt: "127.0.0.1", gpu: "none", cpus } as const;
  return async () => {
    const id = randomBytes(8).toString("hex");
    const home = join(folder, id);
    await mkdir(home, { mode: 0o700 });
    await chown(home, runUser, runUser);
    const spec = {
      id,
      generation: 1,
      image: "jupyter",
      token: id,
      home: id,
      ...runLimits([{ gpuId: "", kind: "cpu" }]),
    };
    const began = performance.now();
    const body = containerBody(spec, { ...place, home, openFiles: undefined });
    const container = await docker.createContainer(body as object);
    await container.start();
    const { NetworkSettings } = await container.inspect();
    const port = Number(NetworkSettings.Ports[labPort]?.[0]?.HostPort);
    while (!(await probeReadiness({ host: "127.0.0.1", port }, id).catch(() => false)))
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    const tookMs = performance.now() - began;
    await container.remove({ force: true });
    return tookMs;
  };
}
