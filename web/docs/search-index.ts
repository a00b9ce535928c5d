import MiniSearch from "minisearch";
import { audienceOf, searchOptions } from "../src/docs/search-options.ts";
import type { Docs } from "./read-docs.ts";

/** What excerpts of the reference are taken from, whose sections are long and mostly tables: their first sentences. */
const referenceCharacters = 300;

/** The index of all sections but those of lists of pages, with the text for excerpts, as JSON for `MiniSearch.loadJSON`. */
export function searchIndex({ parts }: Docs): string {
  const index = new MiniSearch(searchOptions);
  for (const { path, title, sections } of parts.flatMap(({ pages: [, ...pages] }) => pages))
    for (const { id, heading, text: filled, words } of sections) {
      // The index is a file: nothing fills it in.
      const text = filled.replaceAll(/\{\{(?!BRAND_NAME)\w+\}\}/g, "...").replaceAll(/\s+/g, " ");
      index.add({
        id: id === "" ? path : `${path}#${id}`,
        title,
        heading,
        words,
        text,
        shown: audienceOf(path) === "develop" ? text.slice(0, referenceCharacters) : text,
      });
    }
  return JSON.stringify(index);
}
