import MiniSearch, { type SearchResult } from "minisearch";
import { pageSettings } from "../api/page-settings.ts";
import { excerptOf, type Piece } from "./excerpt-of.ts";
import { type Audience, audienceOf, audiences, searchIndexPath, searchOptions, stemOf } from "./search-options.ts";

export interface Found {
  /** Path and anchor. */
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  readonly excerpt: readonly Piece[];
}

export interface FoundGroup {
  readonly title: string;
  readonly found: readonly Found[];
}

/** Of the reader's own group, and of the others. */
const most = { own: 6, other: 3 };

/** The best matches by audience, the reader's own first; no group is empty. */
export type SearchDocs = (text: string, reader: Audience) => readonly FoundGroup[];

/** @throws if the index does not arrive */
export async function loadSearch(): Promise<SearchDocs> {
  const reply = await fetch(searchIndexPath);
  if (!reply.ok) throw new Error(`${searchIndexPath}: ${reply.status}`);
  return searchIn(await reply.text());
}

/**
 * Every word has to match. Where the reader's own pages have no such section, at least half of the words: a whole question is
 * typed, and one of its words is on no page.
 */
export function searchIn(json: string): SearchDocs {
  const index = MiniSearch.loadJSON(json, searchOptions);
  return (text, reader) => {
    const every = index.search(text, { combineWith: "AND" });
    // One word of several says little where another audience's pages have them all.
    const least = Math.max(stemsOf(text).size / 2, every.length > 0 ? 2 : 1);
    const some = index.search(text, { combineWith: "OR" }).filter(({ queryTerms }) => queryTerms.length >= least);
    return orderFor(reader).flatMap((audience) => {
      const strict = every.filter(({ id }) => audienceOf(id) === audience);
      const isOwn = audience === reader;
      const loose = isOwn || every.length === 0 ? some.filter(({ id }) => audienceOf(id) === audience) : [];
      const best = (strict.length > 0 ? strict : loose).slice(0, isOwn ? most.own : most.other);
      return best.length === 0 ? [] : [{ title: audiences[audience], found: best.map(foundOf) }];
    });
  };
}

function stemsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/[^\p{L}\p{N}]+/u).flatMap((word) => (word === "" ? [] : (stemOf(word) ?? []))));
}

function orderFor(reader: Audience): readonly Audience[] {
  return [reader, ...(Object.keys(audiences) as Audience[]).filter((each) => each !== reader)];
}

function foundOf({ id, terms, ...stored }: SearchResult): Found {
  const named = (field: string) => String(stored[field]).replaceAll("{{BRAND_NAME}}", pageSettings.name);
  return { id, title: named("title"), heading: named("heading"), excerpt: excerptOf(named("shown"), terms) };
}
