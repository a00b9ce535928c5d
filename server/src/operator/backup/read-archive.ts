import { createHash } from "node:crypto";
import { Parser, type ReadEntry } from "tar";
import { BackupRefused } from "./backup-refused.ts";
import { manifestName, parseManifest, sumsName } from "./manifest.ts";
import { sumLine } from "./sum-line.ts";

/** A backup's tar on its way, and at its end the text of its manifest. */
interface CheckedArchive {
  /** Throws BackupRefused for what is damaged, cut or something else. */
  readonly bytes: () => AsyncGenerator<Uint8Array>;
  /** After the last byte. Throws BackupRefused where a file is not the one of the sums. */
  readonly text: () => string;
}

/** Compares every file of a backup with its sum as it passes. */
export function checkedArchive(tar: AsyncIterable<Uint8Array>): CheckedArchive {
  const sums = checkSums();
  return { bytes: () => passing(tar, sums.onEntry), text: sums.text };
}

/** Reads a backup's tar to its end; nothing is written. Throws as `checkedArchive`. */
export async function readArchive(tar: AsyncIterable<Uint8Array>): Promise<{ readonly text: string }> {
  const checked = checkedArchive(tar);
  for await (const _ of checked.bytes());
  return { text: checked.text() };
}

async function* passing(
  tar: AsyncIterable<Uint8Array>,
  onReadEntry: (entry: ReadEntry) => void,
): AsyncGenerator<Uint8Array> {
  const faults: Error[] = [];
  const parser = new Parser({ strict: true, onReadEntry });
  parser.on("error", (error: Error) => void faults.push(error));
  try {
    for await (const chunk of tar) {
      parser.write(Buffer.from(chunk));
      if (faults[0]) throw faults[0];
      yield chunk;
    }
    parser.end();
    if (faults[0]) throw faults[0];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BackupRefused(`The backup is damaged or cut short (${why}): use another one.`);
  }
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
    text(): string {
      if (text === undefined) throw new BackupRefused("The backup has no manifest: it is cut short, or no backup.");
      const { sums } = parseManifest(text);
      if (sums === listed && sums === computed.digest("hex")) return text;
      throw new BackupRefused("The files of the backup are not those of its manifest: it is damaged, use another one.");
    },
  };
}
