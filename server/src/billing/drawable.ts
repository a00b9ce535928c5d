/** Whether a font has a picture of a code point. */
export type Glyphs = (codePoint: number) => boolean;

/** More than any name, address or reference has; what is longer ends in three full stops. */
const longest = 260;
const mostMarks = 4;

/**
 * A typed text as one line that a font can draw: "?" for each character that it cannot, nothing that turns the line
 * around, and an end, whatever was typed.
 */
export function drawable(text: string, has: Glyphs): string {
  // Cut before anything is looked at: ten thousand characters cost no more than a name.
  const line = text
    .slice(0, 4 * longest)
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    // All that is unseen, but for what joins one emoji of several.
    .replace(/(?!\u200d)\p{Cf}/gu, "")
    .trim();
  const characters = Array.from(new Intl.Segmenter("en").segment(line), ({ segment }) => segment);
  const drawn = characters.map((each) => (canDraw(each, has) ? each : "?"));
  if (drawn.length <= longest && text.length <= 4 * longest) return drawn.join("");
  return `${drawn.slice(0, longest).join("")}...`;
}

/** A letter and its marks are one character; a whole tower of marks, which would grow out of the page, is none. */
function canDraw(character: string, has: Glyphs): boolean {
  return character.length <= mostMarks && [...character].every((each) => has(each.codePointAt(0) ?? 0));
}
