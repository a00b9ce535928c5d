import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { drawable, type Glyphs } from "./drawable.ts";
import type { Row, Section } from "./receipt-sections.ts";

interface Brand {
  readonly name: string;
  readonly email: string;
}

/** A paper in words. */
interface Paper {
  /** In the file's properties, such as "Receipt INV-abcdefghijk". */
  readonly title: string;
  readonly issuedAt: Date;
  readonly sections: readonly Section[];
  /** Under the figures. */
  readonly notes: readonly string[];
}

/** A4 in points. */
const margin = 64;
const margins = { top: 56, right: margin, bottom: 40, left: margin };
const width = 595.28 - 2 * margin;
const bottom = 841.89 - margins.bottom;
const labelWidth = 200;
const valueLeft = margin + labelWidth + 16;
const valueWidth = width - labelWidth - 16;
const ink = "#0f1517";
const quiet = "#49555a";
const hairline = "#c9d1d3";

/** A receipt or credit note as a PDF of usually one page, the same bytes each time for the same facts. */
export async function documentPdf(paper: Paper, brand: Brand): Promise<Buffer<ArrayBuffer>> {
  const { title, issuedAt } = paper;
  // Not read with the server: most processes never make a receipt.
  const { default: PdfDocument } = await import("pdfkit");
  const page = new PdfDocument({
    size: "A4",
    margins,
    lang: "en-US",
    displayTitle: true,
    info: { Title: title, CreationDate: issuedAt, ModDate: issuedAt },
  });
  for (const name of ["regular", "semibold"]) page.registerFont(name, fontFile(name));
  const written = buffer(page);
  draw(page, paper, brand);
  page.end();
  return await written;
}

/** The standard PDF fonts have no rupee sign (C49), so ours go in: only the glyphs that a receipt uses. */
function fontFile(name: string): Buffer {
  return readFileSync(new URL(`receipt-fonts/geist-${name}.ttf`, import.meta.url));
}

function draw(page: PDFKit.PDFDocument, { sections, notes }: Paper, brand: Brand): void {
  const say = (text: string) => drawable(text, glyphsOf(page));
  page.font("semibold").fontSize(13).fillColor(ink).text(say(brand.name), margin, margins.top, { width });
  page.font("regular").fontSize(10).fillColor(quiet).text(say(brand.email), { width });
  page.moveDown(2);
  for (const [index, { title, rows }] of sections.entries()) {
    const size = index === 0 ? 22 : 11;
    breakFor(page, size + 48);
    page.font("semibold").fontSize(size).fillColor(ink).text(title, margin, page.y, { width });
    page.moveDown(0.5);
    for (const row of rows) drawRow(page, { ...row, label: say(row.label), value: say(row.value) });
    page.y += 18;
  }
  breakFor(page, 60);
  page.font("regular").fontSize(10).fillColor(quiet);
  for (const note of notes) page.text(say(note), margin, page.y, { width });
}

/** Label left, value right, a hairline below; both wrap inside their own column. */
function drawRow(page: PDFKit.PDFDocument, { label, value, strong }: Row): void {
  const font = strong ? "semibold" : "regular";
  page.font(font).fontSize(10);
  const columns = { label: { width: labelWidth }, value: { width: valueWidth, align: "right" as const } };
  const height = Math.max(page.heightOfString(label, columns.label), page.heightOfString(value, columns.value));
  breakFor(page, height + 10);
  const top = page.y + 5;
  page.fillColor(strong ? ink : quiet).text(label, margin, top, columns.label);
  page.fillColor(ink).text(value, valueLeft, top, columns.value);
  page.y = top + height + 5;
  page
    .moveTo(margin, page.y)
    .lineTo(margin + width, page.y)
    .lineWidth(0.5)
    .strokeColor(hairline)
    .stroke();
}

function breakFor(page: PDFKit.PDFDocument, height: number): void {
  if (page.y + height > bottom) page.addPage();
}

/** What the open font can draw; the library keeps it to itself, and draws nothing at all where a glyph is missing. */
function glyphsOf(page: PDFKit.PDFDocument): Glyphs {
  const { _font: open } = page as unknown as {
    readonly _font: { readonly font: { hasGlyphForCodePoint(codePoint: number): boolean } };
  };
  return (codePoint) => open.font.hasGlyphForCodePoint(codePoint);
}
