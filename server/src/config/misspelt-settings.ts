/** Warnings about unknown variables that resemble a setting, such as GPUS_PER_USR. */
export function misspeltSettings(
  source: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  return Object.keys(source).flatMap((name) => {
    if (known.includes(name)) return [];
    const near = known.find((one) => one.length >= 6 && isNear(one, name, one.length >= 10 ? 2 : 1));
    return near ? [`${name} is not a setting and does nothing: is ${near} meant?`] : [];
  });
}

/** Lengths first: the distance of every variable to every setting took 20 ms of a start. */
function isNear(one: string, other: string, most: number): boolean {
  return Math.abs(one.length - other.length) <= most && isWithin(one, other, most);
}

/** Whether the Levenshtein distance is at most this; most pairs are known to be further apart after two or three letters. */
function isWithin(one: string, other: string, most: number): boolean {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > most) return false;
    row = next;
  }
  return (row[other.length] ?? 0) <= most;
}
