import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";

/**
 * Runs after `vite build`. The built page becomes dist/shell.html, empty, for every address of the app; dist/index.html
 * becomes the landing page, drawn, readable without JavaScript. Serving the drawn one elsewhere would hydrate wrongly.
 */
const here = import.meta.dirname;
const dist = join(here, "dist");
const rendered = join(here, "node_modules", ".prerender");

await build({
  root: here,
  logLevel: "warn",
  build: { ssr: "src/entry-server.tsx", outDir: rendered, emptyOutDir: true, copyPublicDir: false, manifest: false },
});
const { render } = (await import(join(rendered, "entry-server.js"))) as { render: (url: string) => Promise<string> };

const shell = await readFile(join(dist, "index.html"), "utf8");
const empty = '<div id="root"></div>';
if (!shell.includes(empty)) throw new Error("dist/index.html has no empty #root");
const page = withFont(shell, await fontFile());

await rename(join(dist, "index.html"), join(dist, "shell.html"));
await writeFile(join(dist, "shell.html"), page);
const landing = await render("http://localhost/");
await writeFile(
  join(dist, "index.html"),
  page.replace(empty, () => `<div id="root">${landing}</div>`),
);
await rm(rendered, { recursive: true });
await rm(join(dist, ".vite"), { recursive: true });

/** The text font is needed at once and found late, inside a style sheet. */
function withFont(html: string, font: string): string {
  return html.replace(
    "</title>",
    `</title>\n    <link rel="preload" href="/${font}" as="font" type="font/woff2" crossorigin>`,
  );
}

async function fontFile(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(dist, ".vite", "manifest.json"), "utf8")) as Record<
    string,
    { file: string; assets?: string[] }
  >;
  const assets = Object.values(manifest).flatMap(({ file, assets = [] }) => [file, ...assets]);
  const font = assets.find((file) => /geist-latin-wght-normal.*\.woff2$/.test(file));
  if (!font) throw new Error("the built app has no Geist");
  return font;
}
