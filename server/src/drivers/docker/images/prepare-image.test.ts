import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDockerMachine, whyNoDocker } from "../../testing/docker-machine.ts";
import { canonicalReference, missingImage, pullProgress } from "./prepare-image.ts";

const absent = await whyNoDocker();
const digestOf = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A registry of this machine, as slow as a far one; the engine asks such without a certificate. */
async function openRegistry() {
  const blobs = new Map<string, Buffer>();
  const asked: string[] = [];
  const add = (bytes: Buffer) => {
    blobs.set(digestOf(bytes), bytes);
    return { digest: digestOf(bytes), size: bytes.length };
  };
  const server = createServer(async (request, reply) => {
    const [, kind, digest = ""] = /^\/v2\/.+\/(manifests|blobs)\/(.+)$/.exec(request.url ?? "") ?? [];
    if (!kind) return reply.writeHead(200).end();
    asked.push(digest);
    const found = blobs.get(digest);
    if (!found)
      return reply
        .writeHead(404)
        .end(JSON.stringify({ errors: [{ code: "MANIFEST_UNKNOWN", message: "manifest unknown" }] }));
    const type = kind === "manifests" ? media("distribution.manifest.v2+json") : "application/octet-stream";
    reply.writeHead(200, { "content-type": type, "content-length": found.length, "docker-content-digest": digest });
    for (let at = 0; at < found.length && request.method === "GET"; at += 1_000_000) {
      reply.write(found.subarray(at, at + 1_000_000));
      await wait(40);
    }
    reply.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    name: (path: string) => `127.0.0.1:${port}/${path}`,
    close: () => void server.close(),
    /** The digest of an image that is like no other: one layer with one file of so many bytes. */
    image(bytes: number): string {
      const folder = mkdtempSync(join(tmpdir(), "berth-layer-"));
      writeFileSync(join(folder, "file"), randomBytes(bytes));
      execFileSync("tar", ["-C", folder, "-cf", join(folder, "layer.tar"), "file"]);
      const layer = readFileSync(join(folder, "layer.tar"));
      rmSync(folder, { recursive: true });
      const rootfs = { type: "layers", diff_ids: [digestOf(layer)] };
      const config = add(
        Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", config: { Cmd: ["/file"] }, rootfs })),
      );
      const parts = {
        config: { mediaType: media("container.image.v1+json"), ...config },
        layers: [{ mediaType: media("image.rootfs.diff.tar.gzip"), ...add(layer) }],
      };
      const manifest = { schemaVersion: 2, mediaType: media("distribution.manifest.v2+json"), ...parts };
      return add(Buffer.from(JSON.stringify(manifest))).digest;
    },
  };
}

const media = (what: string) => `application/vnd.docker.${what}`;

test("a missing image names the recipe that prepares its type, on this machine", () => {
  const recipeOf = () => "jupyter";
  const { message } = missingImage("vision", { machine: { isLocal: true }, recipeOf });
  expect(message).toMatch(/^The image of vision is not on this host: .*\bjupyter builds it$/);
  expect(missingImage("vision", { machine: { isLocal: false }, recipeOf }).message).toContain("hosts check");
});

test("the progress is the mean of the missing layers, and never falls when a late one is added", () => {
  const percentAfter = pullProgress();
  const event = (id: string, status: string, current = 0, total = 0) =>
    percentAfter({ id, status, progressDetail: { current, total } });
  expect(event("latest", "Pulling from berth/jupyter")).toBe(0);
  expect(event("base", "Already exists")).toBe(0);
  expect(event("one", "Pulling fs layer")).toBe(0);
  expect(event("two", "Pulling fs layer")).toBe(0);
  expect(event("one", "Downloading", 50, 100)).toBe(17);
  expect(event("one", "Verifying Checksum")).toBe(35);
  expect(event("three", "Waiting")).toBe(35);
  expect(event("one", "Extracting", 1, 2)).toBe(35);
  expect(event("two", "Download complete")).toBe(51);
  expect(event("two", "Pull complete")).toBe(61);
  expect(event("one", "Pull complete")).toBe(66);
  expect(event("three", "Pull complete")).toBe(99);
});

describe.skipIf(absent)(absent ? `images from a registry, skipped because ${absent}` : "images from a registry", () => {
  let registry: Awaited<ReturnType<typeof openRegistry>>;
  beforeAll(async () => {
    registry = await openRegistry();
  });
  afterAll(() => registry.close());

  async function machineOf(types: Map<string, string>, replaced: readonly string[] = []) {
    const machine = openDockerMachine({ types, replaced });
    const driver = await machine.open();
    const mine = async () =>
      (await machine.engine.listImages())
        .flatMap(({ RepoDigests }) => RepoDigests ?? [])
        .filter((each) => each.startsWith(registry.name("")));
    onTestFinished(async () => {
      for (const reference of await mine()) await machine.engine.getImage(reference).remove({ force: true });
      await machine.close();
    });
    return { driver, mine, engine: machine.engine };
  }

  test("an image is pulled once, with progress that only rises", async () => {
    const reference = `${registry.name("berth/jupyter")}@${registry.image(6_000_000)}`;
    const { driver, mine } = await machineOf(new Map([["jupyter", reference]]));
    const seen: number[] = [];
    await driver.prepare("jupyter", (percent) => seen.push(percent));
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(100);
    expect(
      seen.some((percent) => percent > 5 && percent < 65),
      `on the way: ${seen}`,
    ).toBe(true);
    expect(await mine()).toEqual([reference]);
    const before = registry.asked.length;
    await driver.prepare("jupyter");
    expect(registry.asked.length).toBe(before);
  });

  test("replaced images of this installation are removed once, unless in use; another one's stay", async () => {
    const jupyter = registry.name("berth/jupyter");
    const digests = [1, 2, 3, 4].map((size) => `${jupyter}@${registry.image(size)}`);
    const [old, used, now, theirs] = digests as [string, string, string, string];
    const [types, replaced] = [new Map<string, string>(), [] as string[]];
    const { driver, mine, engine } = await machineOf(types, replaced);
    for (const reference of [old, used, theirs]) {
      types.set("jupyter", reference);
      await driver.prepare("jupyter");
    }
    const container = await engine.createContainer({ Image: used });
    onTestFinished(() => container.remove().catch(() => {}));
    types.set("jupyter", now);
    replaced.push(old, used);
    await driver.prepare("jupyter");
    expect((await mine()).toSorted()).toEqual([now, used, theirs].toSorted());
    await driver.prepare("jupyter");
    const staging = await machineOf(new Map([["jupyter", old]]));
    await staging.driver.prepare("jupyter");
    await driver.prepare("jupyter");
    expect((await mine()).toSorted(), "staging is still at the old one").toEqual([old, now, used, theirs].toSorted());
    await container.remove();
    await driver.prepare("jupyter");
    expect(await mine()).not.toContain(used);
  });

  test("a reference with tag and digest, or with the default registry, is found under the engine's own name", async () => {
    const [name, digest] = [registry.name("berth/jupyter"), registry.image(6)];
    const { driver, mine } = await machineOf(new Map([["jupyter", `${name}:v1@${digest}`]]));
    await driver.prepare("jupyter");
    expect(canonicalReference(`${name}:v1@${digest}`, await mine())).toBe(`${name}@${digest}`);
    const both = [`registry.example:5000/other@${digest}`, `berth/jupyter@${digest}`, "berth/jupyter@sha256:older"];
    expect(canonicalReference(`docker.io/berth/jupyter:v1@${digest}`, both)).toBe(`berth/jupyter@${digest}`);
    expect(canonicalReference(`docker.io/library/python@${digest}`, [`python@${digest}`])).toBe(`python@${digest}`);
  });

  test("an image that the registry lacks is no_image; an unreachable registry is retried", async () => {
    const unknown = `${registry.name("berth/jupyter")}@sha256:${"0".repeat(64)}`;
    const { driver } = await machineOf(new Map([["jupyter", unknown]]));
    await expect(driver.prepare("jupyter")).rejects.toMatchObject({ code: "no_image" });
    const away = await machineOf(new Map([["jupyter", `127.0.0.1:1/berth/jupyter@sha256:${"0".repeat(64)}`]]));
    await expect(away.driver.prepare("jupyter")).rejects.toMatchObject({ code: "unavailable" });
  });
});
