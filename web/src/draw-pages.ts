import { description } from "./content/brand.ts";
import { render } from "./render.tsx";

export { renderDocs } from "./render.tsx";

export interface DrawnPages {
  readonly description: string;
  /** Markup by path. */
  readonly markup: Readonly<Record<string, string>>;
}

/**
 * Draws public pages with the catalogue of src/catalogue.ts. Built into one file without dependencies, for the build and for
 * a server whose catalogue is its own (server/src/http/draw-pages.ts).
 */
export async function drawPages(paths: readonly string[]): Promise<DrawnPages> {
  const drawn: [string, string][] = [];
  for (const path of paths) drawn.push([path, await render(`http://localhost${path}`)]);
  return { description, markup: Object.fromEntries(drawn) };
}
