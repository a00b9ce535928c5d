import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { pictureTags } from "./picture-tags.ts";
import { type RenderedMarkdown, renderMarkdown } from "./render-markdown.ts";

interface Part {
  readonly title: string;
  /** The first is the part's own page. */
  readonly pages: readonly DocsPage[];
}

export interface DocsPage extends RenderedMarkdown {
  /** Without a trailing slash: `/docs/use/paying`. */
  readonly path: string;
}

export interface Docs {
  readonly start: DocsPage;
  readonly parts: readonly Part[];
  /** Files of pictures, relative to docs/. */
  readonly pictures: readonly string[];
}

/** Folders of docs/ that are served. What stands beside them is for those who work on the code. */
const folders = ["use", "operate", "develop"];
/** Served although it lies above the folders: it is generated, and cited by that path. */
const besides = ["configuration.md"];

/**
 * The served pages of a folder docs/, and those that are made at the build, by file. They stand in the order in which the
 * index page of each part links to them.
 */
export function readDocs(folder: string, made: ReadonlyMap<string, string> = new Map()): Docs {
  const written = globSync(["index.md", ...besides, `{${folders.join(",")}}/*.md`], { cwd: folder });
  const sources = new Map([
    ...written.map((file) => [file.replaceAll("\\", "/"), readFileSync(join(folder, file), "utf8")] as const),
    ...made,
  ]);
  const page = (file: string): DocsPage => {
    const rendered = renderMarkdown(sources.get(file) ?? "", (href) => resolveLink(file, href, sources));
    return { ...rendered, html: pictureTags(rendered.html, folder), path: pathOf(file) };
  };
  const parts = folders.map((part) => orderOf(part, sources).map(page));
  return {
    start: page("index.md"),
    parts: parts.map((pages) => ({ title: pages[0]?.title ?? "", pages })),
    pictures: globSync(`{${folders.join(",")}}/**/*.webp`, { cwd: folder }),
  };
}

/** The index page, the pages that it links to, then those of its folder that it forgot. */
function orderOf(part: string, sources: ReadonlyMap<string, string>): readonly string[] {
  const index = `${part}/index.md`;
  const linked = [...(sources.get(index) ?? "").matchAll(/\]\(([^)#\s]+\.md)/g)]
    .map(([, href = ""]) => posix.join(part, href))
    .filter((file) => sources.has(file) && (file.startsWith(`${part}/`) || besides.includes(file)));
  const own = [...sources.keys()].filter((file) => file.startsWith(`${part}/`)).sort();
  return [...new Set([index, ...linked, ...own])];
}

function pathOf(file: string): string {
  return posix.join("/docs", file.replace(/(^|\/)index\.md$/, "").replace(/\.md$/, "")).replace(/\/$/, "");
}

/** Links to files that are not served are taken away. */
function resolveLink(from: string, href: string, sources: ReadonlyMap<string, string>): string | undefined {
  if (/^(#|\/|[a-z]+:)/.test(href)) return href;
  const [target = "", anchor] = href.split("#");
  const file = posix.join(posix.dirname(from), target);
  if (/\.webp$/.test(file)) return posix.join("/docs", file);
  if (!sources.has(file)) return undefined;
  return anchor === undefined ? pathOf(file) : `${pathOf(file)}#${anchor}`;
}
