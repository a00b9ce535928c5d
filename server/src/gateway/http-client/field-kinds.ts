/** Few: a name may keep the whole head that it was cut from in memory. */
const maxKept = 100;

/**
 * Returns a function from a field's name, in any case, to its kind: what `special` has for it in lower case, else `plain`.
 * Most names differ from all special ones in length or first letter, which is cheaper than the hash of a name that is
 * fresh from the wire.
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
