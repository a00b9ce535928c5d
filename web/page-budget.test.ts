import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "dist");
const assets = join(dist, "assets");
const isBuilt = existsSync(assets);

/**
 * Kilobytes of script, as sent with brotli, that a browser gets before a page is complete: of the document's own
 * script, and of the chunks of the route (src/routes.tsx). With a twentieth of room.
 */
const documents: Readonly<Record<string, number>> = {
  "index.html": 1,
  "refund.html": 1,
  "status.html": 122,
  // With the switch of single keys (WCAG 2.1.4), which holds for its search too.
  "docs.html": 3.5,
};
const frame = ["app-frame"];
const signedIn = [...frame, "guard", "shell"];
const routes: Readonly<Record<string, { readonly kb: number; readonly chunks: readonly string[] }>> = {
  // With the buttons of other providers and their way back (G416), passkeys (G424), and from here on the bound of each
  // request (G357) and the provider of a sign-in (G370).
  "/login": { kb: 188, chunks: [...frame, "auth-page"] },
  // From here on with the calls of passkeys, in the chunk of the contract.
  "/dashboard": { kb: 229.5, chunks: [...signedIn, "dashboard-page"] },
  // From here on with the second step of a sign-in, in the client of the identity provider (G398), and the queries of SSH (G410, G413).
  "/environments": { kb: 260, chunks: [...signedIn, "list-page"] },
  "/environments/create": { kb: 246.5, chunks: [...signedIn, "launch-page"] },
  // With the switches of the done notice (G360), the ports (G385), the cost so far (G392) and SSH (G413).
  "/environments/{id}": { kb: 264, chunks: [...signedIn, "environment-page"] },
  "/billing": { kb: 241, chunks: [...signedIn, "billing-page"] },
  "/billing/orders/{id}": { kb: 251, chunks: [...signedIn, "order-page"] },
  "/support": { kb: 252, chunks: [...signedIn, "support-page"] },
  // With SSH keys (G410), connected accounts (G419) and passkeys (G424).
  "/settings": { kb: 250, chunks: [...signedIn, "settings-page"] },
};

test.skipIf(!isBuilt).each(Object.entries(documents))("the scripts of %s are within their budget", (file, kb) => {
  expectWithin(kb, scriptsOf(file));
});

test.skipIf(!isBuilt).each(Object.entries(routes))("the scripts of %s are within their budget", (_, { kb, chunks }) => {
  expectWithin(kb, [...scriptsOf("shell.html"), ...chunks.map(chunkOf)]);
});

/** Fails with the page's chunks, the largest first. */
function expectWithin(kb: number, entries: readonly string[]): void {
  const sent = [...closureOf(entries)].map((file) => ({ file, bytes: sentBytes(file) }));
  const total = sent.reduce((sum, { bytes }) => sum + bytes, 0) / 1000;
  const largest = sent.toSorted((a, b) => b.bytes - a.bytes).map(({ file, bytes }) => `${file} ${bytes}`);
  expect(total, `${total.toFixed(1)} kB: ${largest.join(", ")}`).toBeLessThanOrEqual(kb);
}

function scriptsOf(file: string): string[] {
  const html = readFileSync(join(dist, file), "utf8");
  return Array.from(html.matchAll(/<script type="module"[^>]* src="\/assets\/([^"]+)"/g), ([, name = ""]) => name);
}

function chunkOf(name: string): string {
  const found = readdirSync(assets).filter(
    (file) => file.startsWith(`${name}-`) && /^-[\w-]{8}\.js$/.test(file.slice(name.length)),
  );
  expect(found, name).toHaveLength(1);
  return found[0] ?? "";
}

/** The files and all that they import statically: in a built chunk `from"./x.js"` or `import"./x.js"`. */
function closureOf(files: readonly string[]): Set<string> {
  const found = new Set(files);
  for (const file of found)
    for (const [, name = ""] of readFileSync(join(assets, file), "utf8").matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g))
      found.add(name);
  return found;
}

/** Short files have no compressed copy (compress.ts). */
function sentBytes(file: string): number {
  const path = join(assets, file);
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
}
