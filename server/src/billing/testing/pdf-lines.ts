import { inflateSync } from "node:zlib";

/** Reads the lines of a PDF by pdfkit in drawing order, through each font's ToUnicode table as a PDF reader does. */
export function pdfLines(pdf: Buffer): string[] {
  const objects = objectsOf(pdf);
  const fonts = fontsOf(objects);
  const lines: string[] = [];
  for (const { text, content } of objects.values()) {
    const resources = /\/Type \/Page\n/.test(text) && /\/Contents (\d+) 0 R/.exec(text)?.[1];
    if (!resources) continue;
    const drawn = objects.get(resources)?.content ?? content;
    let letters = new Map<string, string>();
    for (const [, font, glyphs] of drawn.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
      if (font) letters = fonts.get(font) ?? letters;
      else
        lines.push(
          codesOf(glyphs ?? "")
            .map((code) => letters.get(code) ?? "\ufffd")
            .join(""),
        );
    }
  }
  return lines;
}

interface PdfObject {
  readonly text: string;
  /** Inflated; empty where the object has no stream. */
  readonly content: string;
}

function objectsOf(pdf: Buffer): ReadonlyMap<string, PdfObject> {
  const text = pdf.toString("latin1");
  const objects = new Map<string, PdfObject>();
  for (const match of text.matchAll(/\n(\d+) 0 obj\n([\s\S]*?)\n(endobj|stream)(?=\n)/g)) {
    const [all, id = "", head = "", kind] = match;
    const start = match.index + all.length + 1;
    const length = Number(/\/Length (\d+)/.exec(head)?.[1] ?? 0);
    const content = kind === "stream" ? inflateSync(pdf.subarray(start, start + length)).toString("latin1") : "";
    objects.set(id, { text: `${head}\n`, content });
  }
  return objects;
}

/** By resource name, which pdfkit uses for one font throughout. */
function fontsOf(objects: ReadonlyMap<string, PdfObject>): ReadonlyMap<string, Map<string, string>> {
  const fonts = new Map<string, Map<string, string>>();
  for (const { text } of objects.values())
    for (const [, name = "", id = ""] of text.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const table = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id)?.text ?? "")?.[1] ?? "";
      fonts.set(name, lettersOf(objects.get(table)?.content ?? ""));
    }
  return fonts;
}

/** `<0001> <0020> [<0042> <0065>]`: a first code, a last one, and the letters from the first on. */
function lettersOf(table: string): Map<string, string> {
  const letters = new Map<string, string>();
  for (const [, first = "", list = ""] of table.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g))
    for (const [index, [, hex = ""]] of [...list.matchAll(/<([0-9a-f ]+)>/g)].entries()) {
      const units = codesOf(`<${hex.replaceAll(" ", "")}>`).map((unit) => Number.parseInt(unit, 16));
      letters.set((Number.parseInt(first, 16) + index).toString(16).padStart(4, "0"), String.fromCharCode(...units));
    }
  return letters;
}

function codesOf(glyphs: string): string[] {
  return [...glyphs.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex = ""]) => hex.match(/.{4}/g) ?? []);
}
