import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "vite";
import { apiDocument } from "../server/src/http/api-document.ts";
import { type ApiDocument, apiPages } from "./docs/api-pages.ts";
import { docsViews } from "./docs/docs-views.ts";
import { readDocs } from "./docs/read-docs.ts";
import { searchIndex } from "./docs/search-index.ts";
import { drawIcons } from "./draw-icons.ts";
import { slogan } from "./src/content/brand.ts";
import { legalTexts } from "./src/content/legal-texts.ts";
import { statusDescription, statusTitle } from "./src/content/status-texts.ts";
import type { DocsView } from "./src/docs/docs-view.ts";
import { searchIndexPath } from "./src/docs/search-options.ts";

/**
 * Runs after `vite build`. The built page becomes the empty dist/shell.html for all app routes. Each public page becomes a
 * prerendered document that works without JavaScript; it prefetches the app on the first interaction
 * (src/public-page.ts), or loads it at once for live figures. index.html is the landing page. All have placeholders such
 * as {{APP_URL}} that the server replaces (server/src/http/documents.ts).
 */
const here = import.meta.dirname;
const dist = join(here, "dist");
/** Kept in the build: a server with a catalogue of its own draws the pages again (server/src/http/draw-pages.ts). */
const drawing = join(dist, ".draw");

interface Page {
  readonly path: string;
  readonly title: string;
  /** By default the one in index.html; escaped. */
  readonly description?: string;
  /** Source file of its route. */
  readonly source: string;
  /** Live figures: the app replaces the prerendered page at once. */
  readonly live?: boolean;
}

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

const pages: readonly Page[] = [
  { path: "/", title: `{{BRAND_NAME}}: ${slogan}`, source: "src/landing/landing.tsx" },
  ...Object.entries(legalTexts).map(([path, { title, description }]) => ({
    path,
    title: `${title} · {{BRAND_NAME}}`,
    description,
    source: "src/legal/legal-page.tsx",
  })),
  {
    path: "/status",
    title: `${statusTitle} · {{BRAND_NAME}}`,
    description: statusDescription,
    source: "src/status/status-page.tsx",
    live: true,
  },
];

await build({
  root: here,
  logLevel: "warn",
  // In one file, because the server has none of its dependencies.
  ssr: { noExternal: true },
  build: {
    ...{ ssr: "src/draw-pages.ts", outDir: drawing, emptyOutDir: true, copyPublicDir: false, manifest: false },
    rollupOptions: { output: { codeSplitting: false } },
  },
});
const { drawPages, renderDocs } = (await import(join(drawing, "draw-pages.js"))) as {
  drawPages: (paths: readonly string[]) => Promise<{ readonly markup: Readonly<Record<string, string>> }>;
  renderDocs: (view: DocsView) => string;
};
const { markup } = await drawPages(pages.map(({ path }) => path));

const manifest = JSON.parse(await readFile(join(dist, ".vite", "manifest.json"), "utf8")) as Record<string, Chunk>;
await rename(join(dist, "index.html"), join(dist, "shell.html"));
const entry = "index.html";
const empty = '<div id="root"></div>';
const shell = withFont(await readFile(join(dist, "shell.html"), "utf8"));
const ownDescription = /name="description"\s+content="([^"]+)"/.exec(shell)?.[1];
if (!shell.includes(empty) || !ownDescription) throw new Error("dist/index.html has no empty #root or no description");

// Search engines need no app pages.
await writeFile(join(dist, "shell.html"), inHead(shell, ['<meta name="robots" content="noindex">']));
const document = withPrefetch(withoutApp(shell, "src/public-page.ts"));
for (const page of pages)
  await writePage(page, page.live ? withChunks(shell, page.source) : document, markup[page.path] ?? "");
await writeDocs();
await drawIcons(dist);
await rm(join(dist, ".vite"), { recursive: true });

function described(html: string, { path, title, description = ownDescription ?? "" }: Page): string {
  const og = (property: string, content: string) => `<meta property="og:${property}" content="${content}">`;
  const url = `{{APP_URL}}${path}`;
  return inHead(html, [
    `<link rel="canonical" href="${url}">`,
    og("type", "website"),
    og("site_name", "{{BRAND_NAME}}"),
    og("title", title),
    og("description", description),
    og("url", url),
    og("image", "{{APP_URL}}/og.png"),
    og("image:width", "1200"),
    og("image:height", "630"),
    '<meta name="twitter:card" content="summary_large_image">',
  ])
    .replace(/<title>[^<]*<\/title>/, () => `<title>${title}</title>`)
    .replace(/(name="description"\s+content=")[^"]+/, (_, start) => `${start}${description}`);
}

/** A page at "/docs" is docs.html, one at "/docs/use/paying" docs/use/paying.html. */
async function writePage(page: Page, html: string, markup: string): Promise<void> {
  const file = join(dist, page.path === "/" ? "index.html" : `${page.path.slice(1)}.html`);
  await mkdir(dirname(file), { recursive: true });
  const styled = inHead(described(html, page), await stylesOf(page.source));
  await writeFile(
    file,
    styled.replace(empty, () => `<div id="root">${markup}</div>`),
  );
}

/** The documentation: its pages, their pictures, and the index of the search. */
async function writeDocs(): Promise<void> {
  const folder = join(here, "..", "docs");
  const examples = JSON.parse(await readFile(join(folder, "develop", "api-examples.json"), "utf8"));
  const docs = readDocs(folder, apiPages((await apiDocument()) as ApiDocument, examples));
  const html = withoutApp(shell, "src/docs/docs-script.ts");
  const source = "src/docs/docs-page.tsx";
  for (const { view, title, description } of docsViews(docs))
    await writePage(
      { path: view.path, title: `${title} · {{BRAND_NAME}}`, description, source },
      html,
      renderDocs(view),
    );
  for (const file of docs.pictures) await cp(join(folder, file), join(dist, "docs", file));
  await writeFile(join(dist, searchIndexPath), searchIndex(docs));
}

/** Replaces the app and its style sheet by a small script. */
function withoutApp(html: string, script: string): string {
  const tags = html.replace(
    / *<(script type="module"|link rel="(modulepreload|stylesheet)")[^>]*>(<\/script>)?\n/g,
    "",
  );
  return inHead(tags, [`<script type="module" src="/${chunk(script).file}"></script>`]);
}

/** Lets src/public-page.ts load the app later. */
function withPrefetch(html: string): string {
  const app = [...closure(entry)].map((key) => `/${chunk(key).file}`);
  return inHead(html, [
    `<template id="app">${app.map((file) => `<link rel="prefetch" href="${file}">`).join("")}</template>`,
  ]);
}

/** Preloads the chunks of the route, which the app would otherwise request late. */
function withChunks(html: string, source: string): string {
  const own = [...closure(source, closure(entry))].filter((key) => !closure(entry).has(key));
  return inHead(
    html,
    own.map((key) => `<link rel="modulepreload" crossorigin href="/${chunk(key).file}">`),
  );
}

/** Inlines the style sheet, so that the first paint needs only the document. */
async function stylesOf(source: string): Promise<string[]> {
  const files = [...closure(source, closure(entry))].flatMap((key) => chunk(key).css ?? []);
  return Promise.all(
    [...new Set(files)].map(async (file) => `<style>${await readFile(join(dist, file), "utf8")}</style>`),
  );
}

function closure(key: string, found = new Set<string>()): Set<string> {
  if (found.has(key)) return found;
  found.add(key);
  for (const next of chunk(key).imports ?? []) closure(next, found);
  return found;
}

function chunk(key: string): Chunk {
  const found = manifest[key];
  if (!found) throw new Error(`the built app has no ${key}`);
  return found;
}

function inHead(html: string, lines: readonly string[]): string {
  return html.replace("  </head>", () => `${lines.map((line) => `    ${line}\n`).join("")}  </head>`);
}

/** Preloads the text font, which is otherwise discovered late, in a style sheet. */
function withFont(html: string): string {
  const files = Object.values(manifest).flatMap(({ file, assets = [] }) => [file, ...assets]);
  const font = files.find((file) => /geist-latin-wght-normal.*\.woff2$/.test(file));
  if (!font) throw new Error("the built app has no Geist");
  return html.replace(
    "</title>",
    `</title>\n    <link rel="preload" href="/${font}" as="font" type="font/woff2" crossorigin>`,
  );
}
