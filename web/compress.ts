import type { Dirent } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";

/**
 * The last build step: writes compressed copies of text files, so that the server compresses nothing per request. Pages
 * are excluded, because the server fills their placeholders first (server/src/http/documents.ts).
 */
const folders = ["dist", "dist-console"].map((name) => join(import.meta.dirname, name));
const worthwhileBytes = 1024;

const entries = await Promise.all(folders.map((dist) => readdir(dist, { recursive: true, withFileTypes: true })));
// The server runs what is in .draw, and sends it to nobody.
const sent = entries.flat().filter(({ parentPath }) => !parentPath.endsWith(".draw"));
await Promise.all(sent.filter((entry) => entry.isFile() && /\.(js|css|svg|json|txt)$/.test(entry.name)).map(compress));

/** All at once: zlib works on every core. */
async function compress({ parentPath, name }: Dirent): Promise<void> {
  const path = join(parentPath, name);
  const content = await readFile(path);
  if (content.length < worthwhileBytes) return;
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}
