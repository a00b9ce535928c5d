import { stemOf } from "./search-options.ts";

/** A piece of an excerpt; `hit`: it is one of the words that were looked for. */
export interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

const excerptCharacters = 150;
/** How much of what stands before the first hit is shown. */
const leadCharacters = 40;

/** The part of the text around the first of these stems, whole words only, with every one of them marked. */
export function excerptOf(text: string, stems: readonly string[]): readonly Piece[] {
  const wanted = new Set(stems);
  const isHit = (word: string) => wanted.has(stemOf(word) ?? "");
  const words = [...text.matchAll(/[\p{L}\p{N}_]+/gu)];
  const first = words.find(([word]) => isHit(word))?.index ?? 0;
  const start = first <= leadCharacters ? 0 : (words.find(({ index }) => index >= first - leadCharacters)?.index ?? 0);
  const whole = start + excerptCharacters >= text.length;
  const last = words.findLast(({ index, 0: word }) => index + word.length <= start + excerptCharacters);
  const end = whole || !last ? text.length : last.index + last[0].length;
  const pieces = text
    .slice(start, end)
    .split(/([\p{L}\p{N}_]+)/u)
    .filter((piece) => piece !== "")
    .map((piece) => ({ text: piece, hit: isHit(piece) }));
  return [...dots(start > 0), ...pieces, ...dots(end < text.length)];
}

function dots(isCut: boolean): readonly Piece[] {
  return isCut ? [{ text: "…", hit: false }] : [];
}
