import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { drawable, type Glyphs } from "./drawable.ts";
import type { Row, Section } from "./receipt-sections.ts";

interface Brand {
  readonly name: string;
  readonly email: string;
}

interface DocumentContent {
  /** Title in the file's properties, such as "Receipt INV-abcdefghijk". */
  readonly title: string;
  readonly issuedAt: Date;
  readonly sections: readonly Section[];
  /** The lines below the figures. */
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

/** Renders a receipt or credit note as a PDF of usually one page. Deterministic: the same content gives the same bytes. */
export async function documentPdf(content: DocumentContent, brand: Brand): Promise<Buffer<ArrayBuffer>> {
  const { title, issuedAt } = content;
  // Loaded on demand, because most processes never render a PDF.
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
  draw(page, content, brand);
  page.end();
  return await written;
}

/** Embeds our fonts, reduced to the glyphs of a receipt, because the standard PDF fonts have no rupee sign (C49). */
function fontFile(name: string): Buffer {
  return readFileSync(new URL(`receipt-fonts/geist-${name}.ttf`, import.meta.url));
}

function draw(page: PDFKit.PDFDocument, { sections, notes }: DocumentContent, brand: Brand): void {
  const clean = (text: string) => drawable(text, glyphsOf(page));
  page.font("semibold").fontSize(13).fillColor(ink).text(clean(brand.name), margin, margins.top, { width });
  page.font("regular").fontSize(10).fillColor(quiet).text(clean(brand.email), { width });
  page.moveDown(2);
  for (const [index, { title, rows }] of sections.entries()) {
    const size = index === 0 ? 22 : 11;
    breakFor(page, size + 48);
    page.font("semibold").fontSize(size).fillColor(ink).text(title, margin, page.y, { width });
    page.moveDown(0.5);
    for (const row of rows) drawRow(page, { ...row, label: clean(row.label), value: clean(row.value) });
    page.y += 18;
  }
  breakFor(page, 60);
  page.font("regular").fontSize(10).fillColor(quiet);
  for (const note of notes) page.text(clean(note), margin, page.y, { width });
}

/** Draws the label left, the value right, and a hairline below; both wrap in their column. */
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

/** The glyphs of the current font, from a private field: pdfkit silently omits missing glyphs. */
function glyphsOf(page: PDFKit.PDFDocument): Glyphs {
  const { _font: open } = page as unknown as {
    readonly _font: { readonly font: { hasGlyphForCodePoint(codePoint: number): boolean } };
  };
  return (codePoint) => open.font.hasGlyphForCodePoint(codePoint);
}
