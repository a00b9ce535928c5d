import MiniSearch from "minisearch";
import { searchOptions } from "../src/docs/search-options.ts";
import type { Docs } from "./read-docs.ts";

const excerptCharacters = 140;

/** The index of all sections, as JSON for `MiniSearch.loadJSON`. */
export function searchIndex({ start, parts }: Docs): string {
  const index = new MiniSearch(searchOptions);
  for (const { path, title, sections } of [start, ...parts.flatMap(({ pages }) => pages)])
    for (const { id, heading, text: filled } of sections) {
      // The index is a file: nothing fills it in.
      const text = filled.replaceAll(/\{\{(?!BRAND_NAME)\w+\}\}/g, "...");
      index.add({
        id: id === "" ? path : `${path}#${id}`,
        title,
        heading,
        text,
        excerpt: text.replaceAll(/\s+/g, " ").slice(0, excerptCharacters),
      });
    }
  return JSON.stringify(index);
}
