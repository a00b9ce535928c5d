import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import Docker from "dockerode";

const run = promisify(execFile);
const reference = "berth/jupyter:local";
const first = () => new Docker({ socketPath: "/var/run/docker.sock" });

/**
 * Gives the image to an engine that has not started yet, as links to the layers of this machine's own, which are only
 * read: unpacking half a gigabyte takes a busy machine minutes. False where the engine keeps its images in another way.
 */
export async function linkImage(root: string): Promise<boolean> {
  const info: { Driver: string; DockerRootDir: string } = await first().info();
  const from = info.DockerRootDir;
  if (info.Driver !== "overlay2" || !existsSync(join(from, "image/overlay2"))) return false;
  const { Id, RootFS } = await first().getImage(reference).inspect();
  const images = "image/overlay2";
  for (const folder of ["overlay2/l", `${images}/imagedb/content/sha256`, `${images}/layerdb/sha256`])
    mkdirSync(join(root, folder), { recursive: true });
  let chain = "";
  for (const layer of RootFS.Layers ?? []) {
    chain = chain ? createHash("sha256").update(`${chain} ${layer}`).digest("hex") : layer.replace("sha256:", "");
    const known = `${images}/layerdb/sha256/${chain}`;
    await run("cp", ["-a", join(from, known), join(root, known)]);
    chain = `sha256:${chain}`;
    linkLayer(from, root, readFileSync(join(from, known, "cache-id"), "utf8"));
  }
  const content = `${images}/imagedb/content/sha256/${Id.replace("sha256:", "")}`;
  await run("cp", ["-a", join(from, content), join(root, content)]);
  const [repository = ""] = reference.split(":");
  writeFileSync(
    join(root, images, "repositories.json"),
    JSON.stringify({ Repositories: { [repository]: { [reference]: Id } } }),
  );
  return true;
}

function linkLayer(from: string, root: string, id: string): void {
  const [there, here] = [join(from, "overlay2", id), join(root, "overlay2", id)];
  mkdirSync(here, { recursive: true });
  // The lowest has no `lower`.
  for (const name of ["link", "lower"])
    if (existsSync(join(there, name))) copyFileSync(join(there, name), join(here, name));
  for (const link of [join(here, "diff"), join(root, "overlay2/l", readFileSync(join(there, "link"), "utf8"))])
    symlinkSync(join(there, "diff"), link);
}

/** As an operator does: `docker save` there, `docker load` here. It keeps its digest. */
export async function loadImage(to: Docker): Promise<void> {
  const stream = await to.loadImage(await first().getImage(reference).get());
  for await (const _ of stream);
}
