import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recipes } from "@berth/contract";
import { ConfigError } from "../server/src/config/config.ts";
import { readSettingsFile } from "../server/src/config/settings-file.ts";
import { imageRecord, readCatalogue, recordImage } from "../server/src/drivers/docker/images/image-catalogue.ts";
import { canonicalReference, isPullable } from "../server/src/drivers/docker/images/prepare-image.ts";
import { checkImage } from "./check-image.ts";
import { compressedBytes, docker, engineVersion, folder, ImageError } from "./docker-command.ts";
import { stagesOf } from "./stages-of.ts";

/**
 * npm run images [-- --quick TYPE...]: builds, checks and records images. --quick skips the packed size, which takes long.
 * TYPE=REGISTRY/NAME@sha256:... is pulled instead, and every host pulls it by itself. --base
 * debian:bookworm-slim@sha256:... builds on exactly that.
 */
try {
  const { values, positionals } = readArguments();
  const wanted = positionals.map((word) => word.split("=") as [type: string, reference?: string]);
  const wrong = wanted.map(([type]) => type).filter((type) => !recipes.includes(type));
  if (wrong.length > 0) throw new ImageError(`There is no image ${wrong.join(", ")}: ${recipes.join(", ")}.`);
  const record = imageRecord(readSettingsFile(process.env).variables["DATA_DIR"] ?? "");
  console.log(`Docker Engine ${await engineVersion().catch(noEngine)}`);
  const all = wanted.length > 0 ? wanted : recipes.map((type) => [type] as [string]);
  for (const [type, reference] of all)
    await (reference === undefined ? build(type, record, values) : pull(type, record, reference));
} catch (error) {
  console.error(isExpected(error) ? error.message : error);
  process.exit(1);
}

function isExpected(error: unknown): error is Error {
  return error instanceof ImageError || error instanceof ConfigError;
}

function readArguments() {
  try {
    return parseArgs({
      options: { quick: { type: "boolean" }, base: { type: "string" } },
      allowPositionals: true,
    });
  } catch (error) {
    const [why] = String(error instanceof Error ? error.message : error).split(/[.\n]/);
    throw new ImageError(`${why}. Usage: npm run images -- [--quick] [--base IMAGE] [TYPE | TYPE=IMAGE@sha256:...]...`);
  }
}

/** Exit code 3: a machine without an engine has not failed. */
function noEngine(error: unknown): never {
  console.error(error instanceof ImageError ? error.message : error);
  process.exit(3);
}

/** Uses this machine's sign-in to the registry; the engines of other hosts get none. */
async function pull(type: string, record: string, reference: string): Promise<void> {
  if (!isPullable(reference)) throw new ImageError(`${reference} is not registry/name@sha256:...`);
  console.log(`${type}: fetching ${reference}`);
  await docker(["pull", "--quiet", reference]).catch(withContext(`${reference} could not be fetched`));
  const format = "{{.Id}} {{.Size}} {{json .RepoDigests}}";
  const inspected = await docker(["image", "inspect", "--format", format, reference]);
  const [digest = "", size, names = "[]"] = inspected.split(" ");
  const facts = await checkImage(type, digest).catch(withContext(`${type} was fetched, but is not offered`));
  const sizes = { unpackedBytes: Number(size), compressedBytes: null };
  const image = { digest, reference: canonicalReference(reference, JSON.parse(names)) };
  await recordImage(type, { ...image, ...sizes, facts, checkedAt: new Date().toISOString() }, record);
  console.log(`${type}: ready, ${digest}, ${Math.round(sizes.unpackedBytes / 1e6)} MB unpacked`);
}

type BuildOptions = { readonly quick?: boolean; readonly base?: string };

async function build(type: string, record: string, { quick = false, base }: BuildOptions): Promise<void> {
  const startedAt = Date.now();
  const elapsed = () => `${((Date.now() - startedAt) / 1000).toFixed(0)} s`;
  const image = `berth/${type}:local`;
  const onLine = (line: string) => {
    const step = /^Step (\d+\/\d+)|^#\d+ \[\S+ +(\d+\/\d+)\]/.exec(line);
    if (step) console.log(`${type}: step ${step[1] ?? step[2]}, ${elapsed()}`);
  };
  const input = stagesOf(type, await readFile(join(folder, "Dockerfile"), "utf8"));
  const chosen = base ? ["--build-arg", `BASE_IMAGE=${base}`] : [];
  await docker(["build", ...chosen, "--file", "-", "--tag", image, folder], {
    onLine,
    input,
    env: await builder(),
  }).catch(withContext(`${type} could not be built`));
  const inspected = await docker(["image", "inspect", "--format", "{{.Id}} {{.Size}}", image]);
  const [digest = "", size] = inspected.split(" ");
  console.log(`${type}: built in ${elapsed()}, now checked from inside`);
  const facts = await checkImage(type, digest).catch(withContext(`${type} was built, but is not offered`));
  const unpacked = Number(size);
  const before = (await readCatalogue(record))[type];
  const known = before?.digest === digest ? before.compressedBytes : null;
  const packed = known ?? (quick ? null : await compressedBytes(digest));
  const checkedAt = new Date().toISOString();
  await recordImage(type, { digest, unpackedBytes: unpacked, compressedBytes: packed, facts, checkedAt }, record);
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  const sizes = packed === null ? megabytes(unpacked) : `${megabytes(unpacked)}, ${megabytes(packed)} packed`;
  console.log(`${type}: ready after ${elapsed()}. ${digest.slice(7, 19)}, ${sizes}, JupyterLab ${facts["jupyterlab"]}`);
}

/** Environment variables of the builder: the legacy one if the docker command has no BuildKit. */
async function builder(): Promise<Record<string, string>> {
  const hasBuildKit = await docker(["buildx", "version"]).then(
    () => true,
    () => false,
  );
  return { DOCKER_BUILDKIT: hasBuildKit ? "1" : "0", BUILDKIT_PROGRESS: "plain" };
}

function withContext(context: string) {
  return (error: unknown): never => {
    throw error instanceof ImageError ? new ImageError(`${context}:\n${error.message}`) : error;
  };
}
