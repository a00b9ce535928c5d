/**
 * "adalovelace@okaxis" as "ad***@okaxis" (G367): enough for its owner to recognize. A UPI address names a person, often by
 * a telephone number, so it is shortened wherever it arrives and kept whole nowhere.
 */
export function shortenVpa(vpa: string): string {
  const at = vpa.lastIndexOf("@");
  const name = vpa.slice(0, Math.max(at, 0));
  return `${name.slice(0, Math.min(2, name.length - 1))}***${at < 0 ? "" : vpa.slice(at)}`;
}
