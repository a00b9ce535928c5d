/** Few: a name may keep the whole head that it was cut from in memory. */
const mostKept = 100;

/**
 * Answers by a field's name, in any case, what is to be done with it: what `special` says of it in lower case, or `plain`.
 * Length and first letter of most names tell already that they are none of the special ones, and a name fresh from the wire
 * costs its hash to be looked up.
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
    if (kept.size < mostKept) kept.set(name, kind);
    return kind;
  };
}

function shapeOf(name: string): number {
  return ((name.length & 31) << 5) | (name.charCodeAt(0) & 31);
}
