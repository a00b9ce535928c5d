import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pictureTags } from "./picture-tags.ts";

/** The head of an extended WebP of 640 x 400 pixels. */
function webp(): Buffer {
  const file = Buffer.alloc(30);
  file.write("RIFF", 0, "latin1");
  file.write("WEBPVP8X", 8, "latin1");
  file.writeUIntLE(639, 24, 3);
  file.writeUIntLE(399, 27, 3);
  return file;
}

test("a picture has its size, waits until it is near, and has a dark twin where there is one", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-pictures-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "use"));
  for (const name of ["a", "a-dark", "b"]) writeFileSync(join(folder, "use", `${name}.webp`), webp());
  const image = (name: string, more = "") =>
    `<a href="/docs/use/${name}.webp"${more}><img src="/docs/use/${name}.webp" alt="It" width="640" height="400" loading="lazy"></a>`;
  const drawn = (name: string) => pictureTags(`<p><img src="/docs/use/${name}.webp" alt="It"></p>`, folder);
  expect(drawn("a")).toBe(`<p>${image("a", ' data-scheme="light"')}${image("a-dark", ' data-scheme="dark"')}</p>`);
  expect(drawn("b")).toBe(`<p>${image("b")}</p>`);
  writeFileSync(join(folder, "use", "b.webp"), "no picture at all, but long enough");
  expect(() => drawn("b")).toThrow("is no extended WebP");
});

test("every picture of the documentation is small, and a page shows it", () => {
  const folder = join(import.meta.dirname, "..", "..", "docs");
  const pictures = globSync("{use,operate}/pictures/*.webp", { cwd: folder });
  const pages = globSync("{use,operate}/*.md", { cwd: folder }).map((page) => readFileSync(join(folder, page), "utf8"));
  expect(pictures.length).toBeGreaterThan(8);
  for (const picture of pictures) {
    expect(statSync(join(folder, picture)).size, picture).toBeLessThanOrEqual(60_000);
    expect(
      pages.some((page) => page.includes(`](${picture.replace("-dark", "").replace(/^\w+\//, "")})`)),
      picture,
    ).toBe(true);
  }
});
