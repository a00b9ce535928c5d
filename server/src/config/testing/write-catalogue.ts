import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Catalogue } from "@berth/contract";

/** Writes a catalogue to a file of its own for CATALOGUE; the caller removes the folder. */
export function writeCatalogue(catalogue: Catalogue): { readonly file: string; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "berth-catalogue-"));
  const file = join(folder, "catalogue.json");
  writeFileSync(file, JSON.stringify(catalogue, null, 2));
  return { file, folder };
}
