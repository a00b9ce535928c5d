import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Catalogue } from "@berth/contract";

/** As in web/src/draw-pages.ts. */
export interface DrawnPages {
  readonly description: string;
  readonly markup: Readonly<Record<string, string>>;
}

const program = `const { drawPages } = await import(process.argv[1]);
process.stdout.write(JSON.stringify(await drawPages(process.argv.slice(2))));`;

/**
 * Draws the public pages of a build with another catalogue than the one they were built with. In a process of its own, so
 * that the server keeps no copy of the browser app in memory. Throws when it fails or takes longer than a minute.
 */
export async function drawPages(dist: string, catalogue: Catalogue, paths: readonly string[]): Promise<DrawnPages> {
  const file = join(dist, ".draw", "draw-pages.js");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program, file, ...paths],
    {
      env: { NODE_ENV: "production", PAGE_CATALOGUE: JSON.stringify(catalogue) },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 60_000,
    },
  );
  return JSON.parse(stdout) as DrawnPages;
}
