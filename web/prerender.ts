import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { drawIcons } from "./icons.ts";
import { slogan } from "./src/content/brand.ts";
import { legalTexts } from "./src/content/legal.ts";

/**
 * Runs after `vite build`. The built page becomes dist/shell.html, empty, for every address of the app. Each public page
 * becomes a file of its own, drawn, readable without JavaScript; index.html is the landing page. Serving a drawn one
 * elsewhere would hydrate wrongly. All carry marks such as {{APP_URL}} that the server fills (http/documents.ts).
 */
const here = import.meta.dirname;
const dist = join(here, "dist");
const rendered = join(here, "node_modules", ".prerender");

interface Page {
  readonly path: string;
  readonly title: string;
  /** The landing page keeps the one in index.html. */
  readonly description?: string;
  /** Source file of a lazy route. */
  readonly source?: string;
}

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

const pages: readonly Page[] = [
  { path: "/", title: `{{BRAND_NAME}}: ${slogan}` },
  ...Object.entries(legalTexts).map(([path, { title, description }]) => ({
    path,
    title: `${title} · {{BRAND_NAME}}`,
    description,
    source: "src/legal/legal-page.tsx",
  })),
];

await build({
  root: here,
  logLevel: "warn",
  build: { ssr: "src/entry-server.tsx", outDir: rendered, emptyOutDir: true, copyPublicDir: false, manifest: false },
});
const { render } = (await import(join(rendered, "entry-server.js"))) as { render: (url: string) => Promise<string> };

const manifest = JSON.parse(await readFile(join(dist, ".vite", "manifest.json"), "utf8")) as Record<string, Chunk>;
await rename(join(dist, "index.html"), join(dist, "shell.html"));
const empty = '<div id="root"></div>';
const shell = withFont(await readFile(join(dist, "shell.html"), "utf8"));
const ownDescription = /name="description"\s+content="([^"]+)"/.exec(shell)?.[1];
if (!shell.includes(empty) || !ownDescription) throw new Error("dist/index.html has no empty #root or no description");

// An address of the app says nothing to a search engine.
await writeFile(join(dist, "shell.html"), inHead(shell, ['<meta name="robots" content="noindex">']));
for (const page of pages) {
  const markup = await render(`http://localhost${page.path}`);
  const file = page.path === "/" ? "index.html" : `${page.path.slice(1)}.html`;
  await writeFile(
    join(dist, file),
    described(shell, page).replace(empty, () => `<div id="root">${markup}</div>`),
  );
}
await drawIcons(dist);
await rm(rendered, { recursive: true });
await rm(join(dist, ".vite"), { recursive: true });

function described(html: string, { path, title, description = ownDescription ?? "", source }: Page): string {
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
    ...(source ? partsOf(source) : []),
  ])
    .replace(/<title>[^<]*<\/title>/, () => `<title>${title}</title>`)
    .replace(/(name="description"\s+content=")[^"]+/, (_, start) => `${start}${description}`);
}

/** Links to what a lazy route needs beyond the entry: without its styles the drawn page would be bare. */
function partsOf(source: string): string[] {
  const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? "";
  const known = closure(entry);
  const own = [...closure(source)].filter((key) => !known.has(key)).map((key) => chunk(key));
  return [
    ...own.flatMap(({ css = [] }) => css).map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`),
    ...own.map(({ file }) => `<link rel="modulepreload" crossorigin href="/${file}">`),
  ];
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

/** The text font is needed at once and found late, inside a style sheet. */
function withFont(html: string): string {
  const files = Object.values(manifest).flatMap(({ file, assets = [] }) => [file, ...assets]);
  const font = files.find((file) => /geist-latin-wght-normal.*\.woff2$/.test(file));
  if (!font) throw new Error("the built app has no Geist");
  return html.replace(
    "</title>",
    `</title>\n    <link rel="preload" href="/${font}" as="font" type="font/woff2" crossorigin>`,
  );
}
