/** What the index of the documentation keeps of each section. */
export interface Found {
  /** Path and anchor. */
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  readonly excerpt: string;
}

/** The same for writing the index (web/docs/search-index.ts) and for reading it (search-docs.ts). */
export const searchOptions = {
  fields: ["title", "heading", "text"],
  storeFields: ["title", "heading", "excerpt"],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: "AND" as const, boost: { title: 3, heading: 2 } },
};

export const searchIndexPath = "/docs/search-index.json";
