import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Gives each picture its size, so that nothing moves when it arrives, and loads it when it is near. Beside `a.webp` may lie
 * `a-dark.webp`, the same in the dark scheme: web/src/docs/docs-text.module.css shows the one of the reader's scheme.
 */
export function pictureTags(html: string, folder: string): string {
  return html.replaceAll(/<img src="\/docs\/([^"]+)\.webp" alt="([^"]*)">/g, (whole, name: string, alt: string) => {
    const dark = `${name}-dark`;
    const isThere = (file: string) => existsSync(join(folder, `${file}.webp`));
    // Smaller than it was drawn: it opens in its own size.
    const tag = (file: string, scheme: string) => {
      const { width, height } = webpSize(readFileSync(join(folder, `${file}.webp`)));
      const image = `<img src="/docs/${file}.webp" alt="${alt}" width="${width}" height="${height}" loading="lazy">`;
      return `<a href="/docs/${file}.webp"${scheme}>${image}</a>`;
    };
    // Before it is drawn the first time.
    if (!isThere(name)) return whole;
    if (!isThere(dark)) return tag(name, "");
    return tag(name, ' data-scheme="light"') + tag(dark, ' data-scheme="dark"');
  });
}

/** In pixels, of an extended WebP as Chromium writes it (RFC 9649, 2.7). Throws for another format. */
function webpSize(file: Buffer): { readonly width: number; readonly height: number } {
  if (file.toString("latin1", 12, 16) !== "VP8X") throw new Error("a picture of the documentation is no extended WebP");
  return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
}
