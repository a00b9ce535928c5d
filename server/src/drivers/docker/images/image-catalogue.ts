import { readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** An image that was built, or fetched, and checked on this machine. */
export interface CatalogueImage {
  /** The engine's id of the image, `sha256:...`: what is started is what was checked. */
  readonly digest: string;
  /** Where every host finds it, `registry/name@sha256:...`; absent: it was built on this machine, for this machine. */
  readonly reference?: string;
  /** References that it has replaced here, so that hosts may take them away. */
  readonly replaced?: readonly string[];
  readonly unpackedBytes: number;
  /** Null when it was not measured. */
  readonly compressedBytes: number | null;
  /** Versions and the tensor's device, as the check saw them inside. */
  readonly facts: Readonly<Record<string, string | null>>;
  readonly checkedAt: string;
}

export type Catalogue = Readonly<Record<string, CatalogueImage>>;

/** Beside the Dockerfile, as `web/dist` is beside its sources: made by a build, never tracked. */
const file = fileURLToPath(new URL("../../../../../images/catalogue.json", import.meta.url));

/** By container type; empty before the first `npm run images`. */
export async function readCatalogue(path = file): Promise<Catalogue> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** What of a type is started; undefined before it was built here. */
export async function currentImage(type: string): Promise<string | undefined> {
  const image = (await readCatalogue())[type];
  return image?.reference ?? image?.digest;
}

/** References that were in the catalogue, and are no longer. */
export async function replacedImages(path = file): Promise<readonly string[]> {
  const all = Object.values(await readCatalogue(path));
  const current = all.map(({ reference }) => reference);
  return all.flatMap(({ replaced = [] }) => replaced).filter((each) => !current.includes(each));
}

export async function recordImage(type: string, image: CatalogueImage, path = file): Promise<void> {
  const all = await readCatalogue(path);
  const { reference, replaced = [] } = all[type] ?? {};
  const before = [...new Set([...replaced, ...(reference ? [reference] : [])])];
  const entry = { ...image, ...(before.length > 0 && { replaced: before }) };
  const content = JSON.stringify({ ...all, [type]: entry }, null, 2);
  await writeFile(`${path}.new`, `${content}\n`);
  await rename(`${path}.new`, path);
}
