import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { brokenLinks, unlistedPages } from "./broken-links.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("no page has a dead link", () => {
  expect(brokenLinks(root)).toEqual([]);
});

test("every served page is linked in the index of its folder", () => {
  expect(unlistedPages(root)).toEqual([]);
});

test("a missing file, heading or path of the product is found; code is no link", () => {
  const md = ".md";
  const planted = plant({
    "README.md":
      "# It\n\n[a](docs/use/files.md) [b](docs/use/files.md#two-words) [c](#it) [d](https://x.example) `[x](y)`\n",
    "docs/use/index.md": "# Use\n\n[files](files.md) [refund](/refund) [served](/docs/use/files)\n",
    "docs/use/files.md": `# One\n\n## Two \`words\`\n\n[e](two${md}) [f](index.md#nowhere) [g](/nowhere)\n\n\`\`\`\n[x](y)\n\`\`\`\n`,
  });
  expect(brokenLinks(planted)).toEqual([
    `docs/use/files.md: two${md} does not exist`,
    "docs/use/files.md: index.md#nowhere names a heading that is not there",
    "docs/use/files.md: /nowhere is no page of the product",
  ]);
});

test("a page that the index forgot is found", () => {
  const planted = plant({ "docs/use/index.md": "# Use\n", "docs/use/files.md": "# One\n" });
  expect(unlistedPages(planted)).toEqual(["docs/use/files.md"]);
});

function plant(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-links-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
