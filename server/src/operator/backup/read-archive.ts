import { createHash } from "node:crypto";
import { Parser, type ReadEntry } from "tar";
import { BackupRefused } from "./backup-refused.ts";
import { type Manifest, manifestName, parseManifest, sumsName } from "./manifest.ts";
import { sumLine } from "./sum-line.ts";

/**
 * Reads a backup's tar to its end and compares every file with its sum; nothing is written. Throws BackupRefused for one that
 * is damaged, cut or something else.
 */
export async function readArchive(tar: AsyncIterable<Uint8Array>): Promise<Manifest> {
  const sums = checkSums();
  const faults: Error[] = [];
  const parser = new Parser({ strict: true, onReadEntry: sums.onEntry });
  parser.on("error", (error: Error) => void faults.push(error));
  try {
    for await (const chunk of tar) {
      parser.write(Buffer.from(chunk));
      if (faults[0]) throw faults[0];
    }
    parser.end();
    if (faults[0]) throw faults[0];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BackupRefused(`The backup is damaged or cut short (${why}): use another one.`);
  }
  return sums.manifest();
}

/** Hashes files as they pass. */
function checkSums() {
  const computed = createHash("sha256");
  let listed = "";
  let text: string | undefined;
  return {
    onEntry(entry: ReadEntry) {
      const hash = createHash("sha256");
      const chunks: Buffer[] = [];
      entry.on("data", (chunk: Buffer) => {
        hash.update(chunk);
        if (entry.path === manifestName) chunks.push(chunk);
      });
      entry.on("end", () => {
        if (entry.type !== "File") return;
        const digest = hash.digest("hex");
        if (entry.path === manifestName) text = Buffer.concat(chunks).toString();
        else if (entry.path === sumsName) listed = digest;
        else computed.update(sumLine(digest, entry.path));
      });
    },
    manifest(): Manifest {
      if (text === undefined) throw new BackupRefused("The backup has no manifest: it is cut short, or no backup.");
      const manifest = parseManifest(text);
      if (manifest.sums === listed && manifest.sums === computed.digest("hex")) return manifest;
      throw new BackupRefused("The files of the backup are not those of its manifest: it is damaged, use another one.");
    },
  };
}
