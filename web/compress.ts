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
for (const entry of entries.flat()) {
  // The server runs it and sends it to nobody.
  if (entry.parentPath.endsWith(".draw")) continue;
  if (!entry.isFile() || !/\.(js|css|svg|json|txt)$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const content = await readFile(path);
  if (content.length < worthwhileBytes) continue;
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}
