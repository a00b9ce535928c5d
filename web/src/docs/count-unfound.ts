/** Long enough that the beginning of a word is not counted. */
const pauseMs = 1500;
/** So that one page does not use up its network's requests. */
const mostOfPage = 10;

const sent = new Set<string>();
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Tells the operator what was looked for and is on no page (G345), once it stands for a moment; empty: something was found. */
export function countUnfound(words: string): void {
  clearTimeout(waiting);
  if (words === "" || sent.has(words) || sent.size >= mostOfPage) return;
  waiting = setTimeout(() => {
    sent.add(words);
    const headers = { "content-type": "application/json" };
    // A count that does not arrive is nobody's trouble.
    void fetch("/support/searches", { method: "POST", headers, body: JSON.stringify({ words }) }).catch(
      () => undefined,
    );
  }, pauseMs);
}
