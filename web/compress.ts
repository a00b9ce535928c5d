import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";

/**
 * Runs last in the build: beside each text file its compressed copies, so that the server compresses nothing per
 * request. Pages are not among them: the server fills them first (server/src/http/documents.ts).
 */
const dist = join(import.meta.dirname, "dist");
const worthwhileBytes = 1024;

for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(js|css|svg|json|txt)$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const content = await readFile(path);
  if (content.length < worthwhileBytes) continue;
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}
