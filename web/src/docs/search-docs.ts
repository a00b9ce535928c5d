import MiniSearch from "minisearch";
import { pageSettings } from "../api/page-settings.ts";
import { type Found, searchIndexPath, searchOptions } from "./search-options.ts";

const most = 8;

/** The best matches, or none. */
export type SearchDocs = (text: string) => readonly Found[];

/** @throws if the index does not arrive */
export async function loadSearch(): Promise<SearchDocs> {
  const reply = await fetch(searchIndexPath);
  if (!reply.ok) throw new Error(`${searchIndexPath}: ${reply.status}`);
  const index = MiniSearch.loadJSON(await reply.text(), searchOptions);
  return (text) => index.search(text).slice(0, most).map(foundOf);
}

function foundOf(match: Readonly<Record<string, unknown>>): Found {
  const named = (field: string) => String(match[field]).replaceAll("{{BRAND_NAME}}", pageSettings.name);
  return { id: String(match["id"]), title: named("title"), heading: named("heading"), excerpt: named("excerpt") };
}
