/** Whom a page is written for. The order is that of the groups of what was found, but for the reader's own, which is first. */
export const audiences = {
  use: "Rent and use",
  operate: "Operate",
  develop: "Develop",
} as const;

export type Audience = keyof typeof audiences;

/** Of a page's path; the settings lie above the folders and are the operator's. */
export function audienceOf(path: string): Audience {
  const [, part = ""] = /^\/docs\/([a-z]+)/.exec(path) ?? [];
  if (part === "configuration") return "operate";
  return part in audiences ? (part as Audience) : "use";
}

/** Too common to be looked for. */
const common = new Set(
  `a an the i my me we our you your it its is are was be been do does did can could will would should how what
  where when why which who if in on at to of for from with and or by as this that there have has get got s m happens`.split(
    /\s+/,
  ),
);

/** The stem of a word, the same for the index and for what is typed; nothing for a common word. */
export function stemOf(word: string): string | null {
  const lower = word.toLowerCase();
  if (common.has(lower)) return null;
  return lower.length > 4 ? lower.replace(/(ing|ed|es|s)$/, "") : lower;
}

/** The same for writing the index (web/docs/search-index.ts) and for reading it (search-docs.ts). */
export const searchOptions = {
  fields: ["title", "heading", "words", "text"],
  storeFields: ["title", "heading", "shown"],
  processTerm: stemOf,
  searchOptions: {
    prefix: true,
    fuzzy: (term: string) => (term.length > 4 ? 0.15 : false),
    boost: { title: 2, heading: 3, words: 4 },
  },
};

export const searchIndexPath = "/docs/search-index.json";
