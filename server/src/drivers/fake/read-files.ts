import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser } from "tar";
import type { FakeFiles } from "./fake-server.ts";

/** Adds the plain files of a tar.gz, as they arrive. */
export async function readFiles(
  archive: AsyncIterable<Uint8Array>,
  files: FakeFiles,
  signal: AbortSignal,
): Promise<void> {
  const parser = new Parser({
    onReadEntry(entry) {
      const chunks: Buffer[] = [];
      entry.on("data", (chunk) => chunks.push(chunk));
      entry.on("end", () => {
        if (entry.type === "File") files.set(entry.path, Buffer.concat(chunks).toString());
      });
    },
  });
  const read = async (tar: AsyncIterable<Buffer>) => {
    for await (const chunk of tar) parser.write(chunk);
    parser.end();
  };
  await pipeline(archive, createGunzip(), read, { signal });
}
