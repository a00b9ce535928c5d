/** Whether a font has a glyph for a code point. */
export type Glyphs = (codePoint: number) => boolean;

/** Longer than any name, address or reference; the rest is replaced by three full stops. */
const longest = 260;
const mostMarks = 4;

/**
 * Sanitizes untrusted text to one line of limited length: "?" replaces each character without a glyph, and bidirectional
 * control characters are removed.
 */
export function drawable(text: string, has: Glyphs): string {
  // Cut first, so that ten thousand characters cost no more than a name.
  const line = text
    .slice(0, 4 * longest)
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    // Format characters, except the zero-width joiner of emoji sequences.
    .replace(/(?!\u200d)\p{Cf}/gu, "")
    .trim();
  const characters = Array.from(new Intl.Segmenter("en").segment(line), ({ segment }) => segment);
  const drawn = characters.map((each) => (canDraw(each, has) ? each : "?"));
  if (drawn.length <= longest && text.length <= 4 * longest) return drawn.join("");
  return `${drawn.slice(0, longest).join("")}...`;
}

/** A letter and its combining marks are one character; too many marks, which would leave the line, cannot be drawn. */
function canDraw(character: string, has: Glyphs): boolean {
  return character.length <= mostMarks && [...character].every((each) => has(each.codePointAt(0) ?? 0));
}
