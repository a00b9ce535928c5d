import { randomUUID } from "node:crypto";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import {
  containerBody,
  containerName,
  ephemeral,
  runUser,
} from "../server/src/drivers/docker/containers/container-body.ts";
import { openEngine } from "../server/src/drivers/docker/engine/engine.ts";
import { docker, folder, socketPath } from "./docker-command.ts";

/** Label of the check's containers, for finding leftovers of a broken check. */
const install = "image-check";

/**
 * Starts the image like a run, with an empty home and without a network, and runs check.py inside. Returns its facts. Throws
 * ImageError with its message.
 */
export async function checkImage(type: string, image: string): Promise<Record<string, string | null>> {
  const home = await mkdtemp(join(tmpdir(), "berth-home-"));
  if (process.getuid?.() === 0) await chown(home, runUser, runUser);
  const id = randomUUID();
  const limits = { cpus: 2, memoryMb: 4096, shmMb: 256, pids: 512, diskGb: 1 };
  const spec = { id, generation: 1, image: type, token: randomUUID(), home: "check", gpus: [], limits };
  const cpus = Math.max(1, Math.min(2, availableParallelism()));
  const context = { ...ephemeral, install, image, home, network: "none", cpus };
  const body = { name: containerName(id), ...containerBody(spec, context) };
  const container = await openEngine({ socketPath }).docker.createContainer(body as object);
  try {
    await container.start();
    const input = await readFile(join(folder, "check.py"), "utf8");
    return JSON.parse(await docker(["exec", "-i", container.id, "python", "-", type], { input }));
  } finally {
    await container.remove({ force: true });
    await rm(home, { recursive: true, force: true });
  }
}
