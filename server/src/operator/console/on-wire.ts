/** A value as JSON has it: instants are ISO 8601 (G67). */
export type OnWire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? OnWire<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]: OnWire<T[Key]> }
      : T;

/** Rows for a reply. */
export function onWire<T>(value: T): OnWire<T> {
  return JSON.parse(JSON.stringify(value));
}
