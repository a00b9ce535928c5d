/** A small cache: a sliced name can keep the whole head string in memory. */
const maxKept = 100;

/**
 * Returns a case-insensitive lookup from a field's name to its kind: the `special` one, else `plain`. Most names differ from
 * all special ones in length or first letter, and that comparison is cheaper than hashing a new string.
 */
export function createFieldKinds<Kind>(special: Readonly<Record<string, Kind>>, plain: Kind): (name: string) => Kind {
  const shapes = new Uint8Array(32 * 32);
  for (const name of Object.keys(special)) shapes[shapeOf(name)] = 1;
  const kept = new Map<string, Kind>();
  return (name) => {
    if (shapes[shapeOf(name)] === 0) return plain;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const kind = special[name.toLowerCase()] ?? plain;
    if (kept.size < maxKept) kept.set(name, kind);
    return kind;
  };
}

function shapeOf(name: string): number {
  return ((name.length & 31) << 5) | (name.charCodeAt(0) & 31);
}
