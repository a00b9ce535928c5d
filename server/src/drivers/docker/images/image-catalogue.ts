import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** An image that was built or pulled, and checked, on this machine. */
export interface CatalogueImage {
  /** The engine's id of the image, `sha256:...`: only the checked image is started. */
  readonly digest: string;
  /** `registry/name@sha256:...`, which every host can pull; absent: it was built on this machine, for this machine. */
  readonly reference?: string;
  /** References that it has replaced, so that hosts may remove them. */
  readonly replaced?: readonly string[];
  readonly unpackedBytes: number;
  /** Null when it was not measured. */
  readonly compressedBytes: number | null;
  /** Versions and the tensor's device, as the check found them inside. */
  readonly facts: Readonly<Record<string, string | null>>;
  readonly checkedAt: string;
}

export type Catalogue = Readonly<Record<string, CatalogueImage>>;

const program = fileURLToPath(new URL("../../../../../", import.meta.url));

/** The record of a checkout, beside the Dockerfile: one for all its data folders. Made by a build, never tracked. */
export const checkoutRecord = join(program, "images", "catalogue.json");

/** A release has no scripts. */
const isRelease = !existsSync(join(program, "scripts"));

/**
 * Where it is recorded what may be started: in the data folder, because an upgrade replaces a release's own folder (G348). A
 * checkout has one beside the Dockerfile for its data folders, but for those with one of their own, as after a restore.
 */
export function imageRecord(dataDir: string): string {
  const own = join(resolve(dataDir), recordName);
  return isRelease || existsSync(own) ? own : checkoutRecord;
}

/** In the data folder. */
export const recordName = "images.json";

/** By container type; empty before the first `npm run images`. */
export async function readCatalogue(path: string): Promise<Catalogue> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** The image that a container type starts; undefined before it was built here. */
export async function currentImage(type: string, path: string): Promise<string | undefined> {
  const image = (await readCatalogue(path))[type];
  return image?.reference ?? image?.digest;
}

/** References that were in the catalogue before. */
export async function replacedImages(path: string): Promise<readonly string[]> {
  const all = Object.values(await readCatalogue(path));
  const current = all.map(({ reference }) => reference);
  return all.flatMap(({ replaced = [] }) => replaced).filter((each) => !current.includes(each));
}

export async function recordImage(type: string, image: CatalogueImage, path: string): Promise<void> {
  const all = await readCatalogue(path);
  const { reference, replaced = [] } = all[type] ?? {};
  const before = [...new Set([...replaced, ...(reference ? [reference] : [])])];
  const entry = { ...image, ...(before.length > 0 && { replaced: before }) };
  const content = JSON.stringify({ ...all, [type]: entry }, null, 2);
  await writeFile(`${path}.new`, `${content}\n`);
  await rename(`${path}.new`, path);
}
