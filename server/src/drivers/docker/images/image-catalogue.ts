import { readFile, readlink, rename, writeFile } from "node:fs/promises";
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

/** What may be started, by type. Beside the Dockerfile: made by a build, never tracked. */
export const catalogueFile = fileURLToPath(new URL("../../../../../images/catalogue.json", import.meta.url));

/** By container type; empty before the first `npm run images`. */
export async function readCatalogue(path = catalogueFile): Promise<Catalogue> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** The image that a container type starts; undefined before it was built here. */
export async function currentImage(type: string): Promise<string | undefined> {
  const image = (await readCatalogue())[type];
  return image?.reference ?? image?.digest;
}

/** References that were in the catalogue before. */
export async function replacedImages(path = catalogueFile): Promise<readonly string[]> {
  const all = Object.values(await readCatalogue(path));
  const current = all.map(({ reference }) => reference);
  return all.flatMap(({ replaced = [] }) => replaced).filter((each) => !current.includes(each));
}

export async function recordImage(type: string, image: CatalogueImage, path = catalogueFile): Promise<void> {
  const all = await readCatalogue(path);
  const { reference, replaced = [] } = all[type] ?? {};
  const before = [...new Set([...replaced, ...(reference ? [reference] : [])])];
  const entry = { ...image, ...(before.length > 0 && { replaced: before }) };
  const content = JSON.stringify({ ...all, [type]: entry }, null, 2);
  // In a release it is a link to a file outside, because an upgrade replaces the folder (docs/operate/upgrade.md).
  const place = await readlink(path).catch(() => path);
  await writeFile(`${place}.new`, `${content}\n`);
  await rename(`${place}.new`, place);
}
