import { join } from "node:path";
import { oldWordsIn } from "@berth/contract/testing/other-catalogue";
import { expect, test } from "vitest";
import { searchIn } from "../src/docs/search-docs.ts";
import { docsViews } from "./docs-views.ts";
import { readDocs } from "./read-docs.ts";
import { searchIndex } from "./search-index.ts";

const docs = readDocs(join(import.meta.dirname, "..", "..", "docs"));
const search = searchIn(searchIndex(docs));
const pages = [docs.start, ...docs.parts.flatMap(({ pages }) => pages)];

test("every page has a title and a description, a path of its own, and links only to pages that are served", () => {
  const paths = pages.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths).toEqual(expect.arrayContaining(["/docs", "/docs/use", "/docs/use/refunds", "/docs/configuration"]));
  for (const { path, title, description, html } of pages) {
    expect([title, description], path).not.toContain("");
    const targets = [...html.matchAll(/href="(\/docs[^"#.]*)["#]/g)].map(([, target]) => target);
    expect(paths, path).toEqual(expect.arrayContaining(targets));
  }
});

test("a renter's page names no type, price or GPU of the built-in catalogue: every operator sells something else", () => {
  const guides = pages.filter(({ path }) => path === "/docs" || path.startsWith("/docs/use"));
  expect(guides.length).toBeGreaterThan(10);
  for (const { path, description, html } of guides) expect(oldWordsIn(`${description}\n${html}`), path).toEqual([]);
});

test("the pages of a part stand in the order of its index page, with their neighbours", () => {
  const views = docsViews(docs).map(({ view }) => view);
  const use = views.filter(({ path }) => path.startsWith("/docs/use"));
  expect(use.slice(0, 3).map(({ path }) => path)).toEqual([
    "/docs/use",
    "/docs/use/first-notebook",
    "/docs/use/choosing",
  ]);
  expect([use[0]?.previous, use[1]?.previous?.path, use[1]?.next?.path, use.at(-1)?.next]).toEqual([
    undefined,
    "/docs/use",
    "/docs/use/choosing",
    undefined,
  ]);
});

test.each([
  ["refund unused share", "use", "Rent and use", "/docs/use/refunds#how-the-unused-share-is-counted"],
  ["pause", "use", "Rent and use", "/docs/use/time"],
  ["SMTP_URL", "use", "Operate", "/docs/operate/mail"],
  ["refund", "operate", "Operate", "/docs/operate/payments#refunds"],
  ["vs code on my windows laptop", "use", "Rent and use", "/docs/use/ssh"],
] as const)("the search finds %s for who reads %s, first in %s (G344)", (words, reader, title, expected) => {
  const [first] = search(words, reader);
  expect(first?.title).toBe(title);
  expect(first?.found.map(({ id }) => id.slice(0, expected.length))).toContain(expected);
});

test("a search for what is nowhere finds nothing (G344)", () => {
  expect(search("nothingofthekind", "use")).toEqual([]);
  expect(search("how do I", "use")).toEqual([]);
});
